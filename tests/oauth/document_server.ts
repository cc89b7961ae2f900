import type { PublicNetwork } from "../../src/interfaces/public_network.ts";
import { isPublicAddress } from "../../src/wire/ip_addresses.ts";
import { REDIRECT } from "./fixture.ts";

/** Address of an app's document. */
export const CLIENT = "https://app.example/client.json";
/** An address of the internet. */
export const PUBLIC = "203.0.114.7";

/** Answers each connection with bytes, of which it notes the head that came first. */
export class RawServer implements AsyncDisposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly heads: string[] = [];
  readonly #open = new Set<Deno.Conn>();
  readonly #done: Promise<void>;

  constructor(answer: (conn: Deno.Conn) => Promise<unknown>) {
    this.#done = this.#serve(answer);
  }

  get port(): number {
    return this.#listener.addr.port;
  }

  async #serve(answer: (conn: Deno.Conn) => Promise<unknown>): Promise<void> {
    for await (const conn of this.#listener) {
      this.#open.add(conn);
      void (async () => {
        const bytes = new Uint8Array(4096);
        const count = await conn.read(bytes) ?? 0;
        this.heads.push(new TextDecoder().decode(bytes.subarray(0, count)));
        await answer(conn);
        this.#close(conn);
      })().catch(() => this.#close(conn));
    }
  }

  #close(conn: Deno.Conn): void {
    if (!this.#open.delete(conn)) return;
    conn.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const conn of this.#open) this.#close(conn);
    await this.#done;
  }
}

export const write = async (conn: Deno.Conn, text: string) => {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) at += await conn.write(bytes.subarray(at));
};

/** Answers every request with one body. */
export const answering = (
  body: string,
  head = "content-type: application/json\r\n",
  status = "200 OK",
) =>
  new RawServer((conn) =>
    write(
      conn,
      `HTTP/1.1 ${status}\r\n${head}content-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
    )
  );

/** A network whose public addresses all lead to one port of this machine. */
export function leadingTo(
  server: Pick<RawServer, "port">,
  addresses: readonly string[] = [PUBLIC],
): PublicNetwork & { readonly asked: string[]; readonly connected: string[] } {
  const asked: string[] = [];
  const connected: string[] = [];
  return {
    asked,
    connected,
    resolve: (name) => {
      asked.push(name);
      return Promise.resolve(addresses);
    },
    isPublic: isPublicAddress,
    connect: (address) => {
      connected.push(address);
      return Deno.connect({ hostname: "127.0.0.1", port: server.port });
    },
  };
}

/** The document of an app. */
export const documentOf = (members = {}) =>
  JSON.stringify({
    client_id: CLIENT,
    client_name: "Example",
    redirect_uris: [REDIRECT, "https://app.example/callback"],
    ...members,
  });
