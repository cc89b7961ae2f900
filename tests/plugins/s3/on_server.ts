import { type RequestBounds, s3BlobStore } from "../../../plugins/s3/mod.ts";
import type { BlobStore } from "../../../src/interfaces/mod.ts";
import { type FileContext, Secret } from "../../../src/interfaces/plugin.ts";
import { CREDENTIALS, S3Server, type ServerOptions } from "./s3_server.ts";

/** How a test opens a store. */
export interface OpenOptions {
  readonly secret?: string;
  readonly id?: string;
  readonly region?: string;
  readonly bucket?: string;
  readonly prefix?: string;
  readonly sessionToken?: string;
  readonly without?: "versions";
  readonly bounds?: Partial<RequestBounds>;
  readonly log?: FileContext["log"];
}

/** Opens a store on a server of the tests, with short pauses. */
export function openOn({ endpoint }: { readonly endpoint: string }, options: OpenOptions = {}) {
  const { secret = CREDENTIALS.secretAccessKey, id = CREDENTIALS.accessKeyId } = options;
  const { sessionToken } = options;
  return s3BlobStore({
    address: {
      url: `${endpoint}/${options.bucket ?? "memories"}`,
      region: options.region ?? "us-east-1",
      accessKeyId: new Secret(id),
      secretAccessKey: new Secret(secret),
      sessionToken: sessionToken === undefined ? undefined : new Secret(sessionToken),
    },
    prefix: options.prefix ?? "svc/",
    versions: options.without === undefined ? "ask" : "none",
    bounds: { pauseMs: 1, ...options.bounds },
    context: { log: options.log ?? (() => {}) },
  });
}

/** A store on a server of its own, which ends with it. */
export async function withServer(options: ServerOptions = {}): Promise<BlobStore> {
  const server = new S3Server(options);
  try {
    return ending(await openOn(server), server);
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

/** A store whose end ends a server, too. */
export function ending(store: BlobStore, server: AsyncDisposable): BlobStore {
  const dispose = store[Symbol.asyncDispose].bind(store);
  const end = async () => {
    await dispose();
    await server[Symbol.asyncDispose]();
  };
  let ended: Promise<void> | undefined;
  store[Symbol.asyncDispose] = () => ended ??= end();
  return store;
}

/** A store that gets ids of jobs for keys, which have their time in them. */
export function withJobIds(store: BlobStore): BlobStore {
  const put = store.put.bind(store);
  const begin = Date.now();
  store.put = (bytes, options) => {
    const number = Number(/\d+$/.exec(options.idempotencyKey)?.[0] ?? 0);
    const time = (begin + Math.floor(number / 2)).toString(16).padStart(12, "0");
    const id = `${time.slice(0, 8)}-${time.slice(8)}-700${number % 2}-8000-` +
      new TextEncoder().encode(options.idempotencyKey.slice(-6)).toHex().padStart(12, "0");
    return put(bytes, { ...options, idempotencyKey: id });
  };
  return store;
}
