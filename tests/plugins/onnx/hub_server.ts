import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type DescribedModel, sha256 } from "./model_folder.ts";

/** What a hub does wrong. */
export interface HubFaults {
  /** Bytes after which each answer of the store is cut off, so many times. */
  cut?: { readonly after: number; times: number };
  /** Sends nothing more after so many bytes, so many times. */
  stall?: { readonly after: number; times: number };
  /** Another byte in the middle of a file. */
  alter?: boolean;
  /** Bytes that nobody asked for at the end of a file. */
  longer?: boolean;
  /** Headers of the hub in place of its own; `null`: without. */
  headers?: Readonly<Record<string, string | null>>;
  /** Status of the hub's answers, so many times. */
  status?: { readonly code: number; times: number };
  /** Whether files are sent from their start, whatever part was asked for. */
  whole?: boolean;
  /** Where the hub sends somebody; `undefined`: to its store. */
  location?: string;
}

/**
 * A hub of models on this machine as Hugging Face is one: it answers with the address of a store at
 * another host, which sends the bytes.
 */
export class HubServer implements AsyncDisposable {
  readonly faults: HubFaults = {};
  /** `METHOD path range` of each request of the hub, and of its store. */
  readonly asked: string[] = [];
  readonly #hub: Deno.HttpServer<Deno.NetAddr>;
  readonly #store: Server;

  private constructor(files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>) {
    this.#store = createServer(({ url = "", headers: { range } }, response) => {
      this.asked.push(`store ${url} ${range ?? ""}`.trim());
      this.#send(files.get(url)!, range, response);
    });
    const options = { hostname: "127.0.0.1", port: 0, onListen() {} };
    this.#hub = Deno.serve(options, async (request) => {
      const { pathname } = new URL(request.url);
      this.asked.push(`hub ${pathname}`);
      const { status } = this.faults;
      if (status !== undefined && status.times-- > 0) {
        return new Response("Oh", { status: status.code });
      }
      const bytes = files.get(pathname);
      if (bytes === undefined) return new Response("Entry not found", { status: 404 });
      return new Response(null, { status: 302, headers: await this.#headers(pathname, bytes) });
    });
  }

  /** A hub with models, listening. */
  static async start(...models: readonly DescribedModel[]): Promise<HubServer> {
    const files = new Map(
      models.flatMap(({ description: { repository, revision }, files }) =>
        [...files].map(([path, bytes]) =>
          [`/${repository}/resolve/${revision}/${path}`, bytes] as const
        )
      ),
    );
    const hub = new HubServer(files);
    await once(hub.#store.listen(0, "127.0.0.1"), "listening");
    return hub;
  }

  /** Address of the hub. */
  get url(): string {
    return `http://127.0.0.1:${this.#hub.addr.port}`;
  }

  /** Host and port of the store. */
  get store(): string {
    return `127.0.0.1:${(this.#store.address() as AddressInfo).port}`;
  }

  async #headers(pathname: string, bytes: Uint8Array<ArrayBuffer>): Promise<Headers> {
    const headers = new Headers({
      location: this.faults.location ?? `http://${this.store}${pathname}`,
      "x-repo-commit": pathname.split("/resolve/")[1]!.split("/")[0]!,
      "x-linked-size": String(bytes.length),
      "x-linked-etag": `"${await sha256(bytes)}"`,
      etag: '"of the answer"',
    });
    for (const [name, value] of Object.entries(this.faults.headers ?? {})) {
      if (value === null) headers.delete(name);
      else headers.set(name, value);
    }
    return headers;
  }

  #send(
    all: Uint8Array<ArrayBuffer>,
    range: string | undefined,
    response: ServerResponse,
  ): void {
    const { cut, stall, alter, longer, whole } = this.faults;
    const start = whole ? 0 : Number(/^bytes=(\d+)-$/.exec(range ?? "")?.[1] ?? 0);
    if (start >= all.length) {
      response.writeHead(416).end();
      return;
    }
    let bytes = all.slice(start);
    if (alter) bytes[bytes.length >> 1]! ^= 1;
    if (longer) bytes = Uint8Array.from([...bytes, 0]);
    response.writeHead(start === 0 ? 200 : 206, {
      "content-length": bytes.length,
      ...(start === 0 ? {} : { "content-range": `bytes ${start}-${all.length - 1}/${all.length}` }),
    });
    if (cut !== undefined && cut.times-- > 0) {
      response.write(bytes.slice(0, cut.after), () => response.destroy());
    } else if (stall !== undefined && stall.times-- > 0) {
      response.write(bytes.slice(0, stall.after));
    } else {
      response.end(bytes);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#store, "close");
    this.#store.close();
    this.#store.closeAllConnections();
    await Promise.all([this.#hub.shutdown(), closed]);
  }
}
