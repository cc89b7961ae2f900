import "./checked_relayers.ts";
import type { SidecarAddress } from "../src/http1/sidecar_connections.ts";
import { ed25519 } from "@noble/curves/ed25519.js";
import { DEFAULT_CONFIG, type RelayerConfig } from "../src/interfaces/config.ts";
import type { Account, Backends, NewKey, Permission } from "../src/interfaces/mod.ts";
import type { PublicNetwork } from "../src/interfaces/public_network.ts";
import type { Logger } from "../src/log.ts";
import { addressOf } from "../src/wire/keys.ts";
import { bodySha256, canonicalText } from "../src/wire/signing/signing.ts";
import { createRelayer, type Relayer } from "../src/relayer.ts";
import { memoryAccounts } from "../plugins/memory/accounts.ts";
import { memoryBlobStore } from "../plugins/memory/blob_store.ts";
import { memoryCipher } from "../plugins/memory/cipher.ts";
import { memoryEmbedder } from "../plugins/memory/embedder.ts";
import { memoryState } from "../plugins/memory/state_store.ts";
import { memoryVectorStore } from "../plugins/memory/vector_store.ts";
import { IS_ON_POSTGRES, IS_SHARED } from "./test_store.ts";

/** Body of an answer, members of any type. */
// deno-lint-ignore no-explicit-any -- tests look into answers whose shape is what they test
export type Json = any;

/** A clock that runs like the real one until it is frozen, and jumps when told to. */
export class TestClock {
  #offset = 0;
  #frozen: number | undefined;
  #moved = 0;

  /** Milliseconds since the epoch; pass it as `now`. */
  readonly now = (): number => this.#frozen ?? Date.now() + this.#offset;

  /** Whole seconds, as `x-timestamp` wants them. */
  get seconds(): string {
    return String(Math.floor(this.now() / 1000));
  }

  /** Milliseconds by which it was moved forward so far. */
  readonly moved = (): number => this.#moved;

  /** Moves forward by so many milliseconds. */
  advance(ms: number): void {
    this.#moved += ms;
    if (this.#frozen !== undefined) this.#frozen += ms;
    else this.#offset += ms;
  }

  /** Stops at a moment; by default at the present one, on a whole second. */
  freeze(at: number = Math.floor(this.now() / 1000) * 1000): void {
    this.#frozen = at;
  }
}

/** An Ed25519 key pair that signs requests. */
export class TestKey {
  /** 32 bytes. */
  readonly seed: Uint8Array;
  /** 64 lower-case hex characters. */
  readonly publicKey: string;

  /** From a seed; a random one when absent. */
  constructor(seed: Uint8Array = crypto.getRandomValues(new Uint8Array(32))) {
    this.seed = seed;
    this.publicKey = ed25519.getPublicKey(seed).toHex();
  }

  /** Address of the key. */
  get address(): string {
    return addressOf(this.publicKey);
  }

  /** 128 hex characters. */
  sign(message: Uint8Array): string {
    return ed25519.sign(message, this.seed).toHex();
  }
}

/** What a request is made of; everything has a valid default. */
export interface SendOptions {
  /** Who signs; the fixture's first key by default. */
  readonly key?: TestKey;
  /** 6 (with `x-nonce`) by default, 4 without. */
  readonly form?: 4 | 6;
  /** Value of `x-nonce`; a fresh UUID by default. */
  readonly nonce?: string;
  /** Value of `x-timestamp`; the clock's second by default. */
  readonly timestamp?: string;
  /** Value of `x-audience`; without one it is not of the host-bound form. */
  readonly audience?: string;
  /** Value of `x-account-id`. */
  readonly accountId?: string;
  /** Headers added or replaced after signing; `null` removes one. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** Address of the socket's peer. */
  readonly peer?: string;
}

/** An answer, read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
  /** The body as sent. */
  readonly text: string;
}

/** Bytes of a body: strings and bytes as they are, anything else as JSON. */
export function bodyBytes(body: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (body === undefined) return undefined;
  if (body instanceof Uint8Array) return new Uint8Array(body);
  return new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body));
}

/** Signature headers of a request and its body, as a client would make them. */
export function signedHeaders(
  key: TestKey,
  method: string,
  target: string,
  bytes: Uint8Array | undefined,
  timestamp: string,
  options: SendOptions = {},
): Headers {
  const nonce = options.form === 4 ? undefined : options.nonce ?? crypto.randomUUID();
  const { accountId, audience } = options;
  const text = canonicalText({
    timestamp,
    method,
    target,
    bodySha256: bodySha256(bytes ?? new Uint8Array()),
    nonce,
    accountId,
    audience,
  });
  const headers = new Headers({
    "x-public-key": key.publicKey,
    "x-signature": key.sign(text),
    "x-timestamp": timestamp,
  });
  if (nonce !== undefined) headers.set("x-nonce", nonce);
  if (audience !== undefined) headers.set("x-audience", audience);
  if (accountId !== undefined) headers.set("x-account-id", accountId);
  if (bytes !== undefined) headers.set("content-type", "application/json");
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (value === null) headers.delete(name);
    else headers.set(name, value);
  }
  return headers;
}

/** Reads an answer to its end. */
export async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  const json = response.headers.get("content-type")?.startsWith("application/json") ?? false;
  return {
    status: response.status,
    headers: response.headers,
    body: json ? JSON.parse(text) : undefined,
    text,
  };
}

/** What goes into a database where relayers are to keep everything in one. */
const STORED = ["accounts", "blobStore", "cipher", "store", "vectorStore"] as const;

/**
 * Backends that keep nothing, or everything in a database of their own, with the fixture's clock.
 *
 * @param given Backends to use instead; nothing is opened in place of these.
 */
export async function testBackends(
  clock: TestClock,
  given: Partial<Backends> = {},
): Promise<Backends> {
  const embedder = given.embedder ?? memoryEmbedder();
  if (IS_ON_POSTGRES) {
    // Here: other tests load no driver.
    const { postgresBackends } = await import("./postgres/backends.ts");
    const roles = STORED.filter((role) => given[role] === undefined);
    const { now, moved } = clock;
    return { ...await postgresBackends(roles, { now, moved, embedder }), ...given, embedder };
  }
  return {
    accounts: memoryAccounts(clock.now),
    blobStore: memoryBlobStore(),
    cipher: memoryCipher(),
    vectorStore: memoryVectorStore(),
    ...(IS_SHARED ? { store: memoryState().open() } : {}),
    ...given,
    embedder,
  };
}

/** Ends backends, one after the other. */
export async function disposeOf(backends: Backends): Promise<void> {
  for (const backend of new Set(Object.values(backends))) await backend[Symbol.asyncDispose]();
}

/** Options of {@linkcode startRelayer}. */
export interface FixtureOptions {
  /** Replaces defaults; rate limits are off unless given. */
  readonly config?: Partial<RelayerConfig>;
  /** Replaces backends of {@linkcode testBackends}; the fixture disposes of them. */
  readonly backends?: Partial<Backends>;
  /** Default: nothing is kept on disk. */
  readonly dataDir?: string;
  /** 32 bytes; needed with a folder. */
  readonly relayerKey?: Uint8Array;
  /** Silent by default. */
  readonly logger?: Logger;
  /** Default: no sidecar. */
  readonly sidecar?: SidecarAddress;
  /** Where documents of apps are read; default: the internet. */
  readonly network?: PublicNetwork;
  /** Default: a running clock. */
  readonly clock?: TestClock;
  /** Accounts of an earlier relayer are used as they are: none is created. */
  readonly existing?: { readonly key: TestKey; readonly account: Account };
}

const NO_LIMITS: Partial<RelayerConfig> = {
  // Many tests save equal texts: what becomes of them is tested where it is asked for.
  deduplicate: false,
  conflicts: "off",
  rateLimit: { ...DEFAULT_CONFIG.rateLimit, disabled: true },
};

/** A relayer in this process, one account, and one key with every permission. */
export class TestRelayer implements AsyncDisposable {
  constructor(
    /** The relayer. */
    readonly relayer: Relayer,
    /** What it runs on; change it to make it fail. */
    readonly backends: Backends,
    /** Its clock. */
    readonly clock: TestClock,
    /** Signs by default; may read and write. */
    readonly key: TestKey,
    /** Account of the key. */
    readonly account: Account,
  ) {}

  /** Address that owns the memories. */
  get owner(): string {
    return this.account.owner;
  }

  /** Adds a key to the account, or to another one. */
  async addKey(
    permissions: readonly Permission[] = ["read", "write"],
    options:
      & Partial<Pick<NewKey, "expiresAt" | "namespaces" | "label">>
      & { readonly accountId?: string } = {},
  ): Promise<TestKey> {
    const key = new TestKey();
    const { accountId = this.account.accountId, ...rest } = options;
    await this.backends.accounts.admin?.addKey(accountId, {
      publicKey: key.publicKey,
      label: "test",
      permissions,
      ...rest,
    });
    return key;
  }

  /** Another owner's account with one key. */
  async addAccount(): Promise<{ readonly account: Account; readonly key: TestKey }> {
    const owner = `0x${crypto.getRandomValues(new Uint8Array(32)).toHex()}`;
    const account = await this.backends.accounts.admin!.create(owner);
    const key = await this.addKey(["read", "write"], { accountId: account.accountId });
    return { account, key };
  }

  /** Sends any request from a peer, loopback by default. */
  async fetch(request: Request, peer = "127.0.0.1"): Promise<Answer> {
    const remoteAddr: Deno.NetAddr = { transport: "tcp", hostname: peer, port: 40_000 };
    return await read(await this.relayer.fetch(request, { remoteAddr }));
  }

  /** A signed request; the body may be an object, a text or bytes. */
  request(method: string, target: string, body?: unknown, options: SendOptions = {}): Request {
    const bytes = bodyBytes(body);
    const { key = this.key, timestamp = this.clock.seconds } = options;
    const headers = signedHeaders(key, method, target, bytes, timestamp, options);
    return new Request(`http://localhost:8000${target}`, {
      method,
      headers,
      ...(bytes === undefined ? {} : { body: bytes }),
    });
  }

  /** Signs, sends, reads. */
  send(method: string, target: string, body?: unknown, options: SendOptions = {}): Promise<Answer> {
    return this.fetch(this.request(method, target, body, options), options.peer);
  }

  /** {@linkcode send} with POST. */
  post(target: string, body: unknown, options: SendOptions = {}): Promise<Answer> {
    return this.send("POST", target, body, options);
  }

  /** {@linkcode send} with GET. */
  get(target: string, options: SendOptions = {}): Promise<Answer> {
    return this.send("GET", target, undefined, options);
  }

  /** An unsigned request. */
  plain(
    method: string,
    target: string,
    body?: unknown,
    options: { readonly headers?: Record<string, string>; readonly peer?: string } = {},
  ): Promise<Answer> {
    const bytes = bodyBytes(body);
    const type: Record<string, string> = bytes === undefined
      ? {}
      : { "content-type": "application/json" };
    const request = new Request(`http://localhost:8000${target}`, {
      method,
      headers: { ...type, ...options.headers },
      ...(bytes === undefined ? {} : { body: bytes }),
    });
    return this.fetch(request, options.peer);
  }

  /** Stores a text, waits until its job has ended, and answers the job id. */
  async remember(text: string, members: Json = {}, options: SendOptions = {}): Promise<string> {
    const { status, body } = await this.post("/api/remember", { text, ...members }, options);
    if (status !== 202) throw new Error(`remember answered ${status} ${body?.code}`);
    await this.relayer.idle();
    return body.job_id;
  }

  /** Texts found by a recall, in order. */
  async recall(query: string, members: Json = {}, options: SendOptions = {}): Promise<string[]> {
    const { status, body } = await this.post("/api/recall", { query, ...members }, options);
    if (status !== 200) throw new Error(`recall answered ${status} ${body?.code}`);
    return body.results.map((hit: Json) => hit.text);
  }

  /** Stops the relayer, then the backends. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.relayer[Symbol.asyncDispose]();
    await disposeOf(this.backends);
  }
}

/**
 * Starts a relayer in this process.
 *
 * @example
 * ```ts ignore
 * await using svc = await startRelayer();
 * await svc.remember("I like tea");
 * assert.deepEqual(await svc.recall("tea"), ["I like tea"]);
 * ```
 */
export async function startRelayer(options: FixtureOptions = {}): Promise<TestRelayer> {
  const clock = options.clock ?? new TestClock();
  const backends = await testBackends(clock, options.backends);
  const key = options.existing?.key ?? new TestKey();
  let account = options.existing?.account;
  if (account === undefined) {
    const owner = `0x${crypto.getRandomValues(new Uint8Array(32)).toHex()}`;
    const created = await backends.accounts.admin!.create(owner);
    account = await backends.accounts.admin!.addKey(created.accountId, {
      publicKey: key.publicKey,
      label: "test",
      permissions: ["read", "write"],
    });
  }
  const { dataDir, relayerKey, logger, sidecar, network } = options;
  const relayer = await createRelayer({
    backends,
    config: { ...NO_LIMITS, ...options.config },
    now: clock.now,
    ...(dataDir === undefined ? {} : { dataDir }),
    ...(relayerKey === undefined ? {} : { relayerKey }),
    ...(logger === undefined ? {} : { logger }),
    ...(sidecar === undefined ? {} : { sidecar }),
    ...(network === undefined ? {} : { publicNetwork: network }),
  });
  return new TestRelayer(relayer, backends, clock, key, account);
}
