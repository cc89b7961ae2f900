/** What can be wrong with the connection to a server; sizes in bytes, times in milliseconds. */
export const FAULTS = [
  "refuses connections",
  "closes at once",
  "closes after the head",
  "never answers",
  "never reads",
  "answers a byte at a time",
  "half an answer, then closes",
  "half an answer, then silence",
  "answers what is no HTTP",
  "500 with a page",
  "503 with Retry-After",
  "429 with Retry-After",
  "redirects elsewhere",
  "200 with nothing",
  "200 with other JSON",
  "200 without an end",
  "says gzip, and is not",
  "loses the answer",
] as const;

export type Fault = typeof FAULTS[number];

const DRIP_MS = 100;
const FLOOD_BYTES = 200 * 2 ** 20;

const bytesOf = (text: string) => new TextEncoder().encode(text);

function answer(status: string, body: string, ...headers: string[]): Uint8Array {
  const lines = [`HTTP/1.1 ${status}`, ...headers, `content-length: ${body.length}`, "", body];
  return bytesOf(lines.join("\r\n"));
}

/** Answers that are sent to whatever is asked. */
const CANNED: { readonly [F in Fault]?: Uint8Array } = {
  "answers what is no HTTP": bytesOf("\x16\x03\x01 SSH-2.0-OpenSSH\r\n\r\n{}\n"),
  "500 with a page": answer("500 Oops", "<h1>Oops</h1>", "content-type: text/html"),
  "503 with Retry-After": answer("503 Later", "", "retry-after: 1"),
  "429 with Retry-After": answer("429 Slowly", "", "retry-after: 1"),
  "redirects elsewhere": answer("302 Found", "", "location: http://127.0.0.1:9/elsewhere"),
  "200 with nothing": answer("200 OK", "", "content-type: application/json"),
  "200 with other JSON": answer("200 OK", '{"a":[1,null]}', "content-type: application/json"),
  "says gzip, and is not": answer("200 OK", "plain", "content-encoding: gzip"),
};

function close(connection: Deno.TcpConn): void {
  try {
    connection.close();
  } catch {
    // It is closed.
  }
}

async function writeAll(connection: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length;) done += await connection.write(bytes.subarray(done));
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Stands on loopback in front of a server on loopback, and is sound or has one fault. */
export class FaultProxy implements Disposable {
  /** Connections that were accepted, or refused by the fault's own listener, since it was set. */
  asked = 0;
  readonly #target: number;
  readonly #port: number;
  #listener: Deno.TcpListener | undefined;
  #fault: Fault | undefined;
  readonly #open = new Set<Deno.TcpConn>();

  /** Listens at once. */
  constructor(target: string | number) {
    this.#target = typeof target === "number" ? target : Number(new URL(target).port);
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    this.#port = this.#listener.addr.port;
    void this.#accept(this.#listener);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Has this fault from now on, or none; connections that are open end. */
  set(fault: Fault | undefined): void {
    this.#fault = fault;
    this.asked = 0;
    for (const connection of this.#open) close(connection);
    this.#open.clear();
    if (fault === "refuses connections") {
      this.#listener?.close();
      this.#listener = undefined;
    } else if (this.#listener === undefined) {
      this.#listener = Deno.listen({ hostname: "127.0.0.1", port: this.#port });
      void this.#accept(this.#listener);
    }
  }

  [Symbol.dispose](): void {
    this.set("refuses connections");
  }

  async #accept(listener: Deno.TcpListener): Promise<void> {
    try {
      for await (const client of listener) {
        this.asked++;
        this.#open.add(client);
        void this.#serve(client, this.#fault).catch(() => {}).finally(() => {
          this.#open.delete(client);
          close(client);
        });
      }
    } catch {
      // It was closed.
    }
  }

  async #serve(client: Deno.TcpConn, fault: Fault | undefined): Promise<void> {
    if (fault === "closes at once") return;
    // Ends when the proxy changes, and closes it.
    if (fault === "never reads") return await this.#untilClosed(client);
    const canned = fault && CANNED[fault];
    const isMute = fault === "closes after the head" || fault === "never answers" ||
      fault === "200 without an end" || canned !== undefined;
    if (!isMute) return await this.#pass(client, fault);
    const head = new Uint8Array(65_536);
    if (await client.read(head) === null) return;
    if (fault === "closes after the head") return;
    if (fault === "200 without an end") return await flood(client);
    if (canned !== undefined) await writeAll(client, canned);
    while (await client.read(head) !== null) {
      if (canned !== undefined) return; // a further request: it gets no further answer
    }
  }

  async #untilClosed(client: Deno.TcpConn): Promise<void> {
    while (this.#open.has(client)) await pause(50);
  }

  /** Passes bytes on; the answers suffer. */
  async #pass(client: Deno.TcpConn, fault: Fault | undefined): Promise<void> {
    const server = await Deno.connect({ hostname: "127.0.0.1", port: this.#target });
    this.#open.add(server);
    try {
      const asking = client.readable.pipeTo(server.writable, { preventClose: false })
        .catch(() => {});
      await this.#answer(server, client, fault);
      close(client);
      close(server);
      await asking;
    } finally {
      this.#open.delete(server);
      close(server);
    }
  }

  async #answer(server: Deno.TcpConn, client: Deno.TcpConn, fault: Fault | undefined) {
    const buffer = new Uint8Array(65_536);
    for (let count; (count = await server.read(buffer)) !== null;) {
      const piece = buffer.slice(0, count);
      if (fault === "loses the answer") return;
      if (fault === undefined) {
        await writeAll(client, piece);
      } else if (fault === "answers a byte at a time") {
        for (const byte of piece) {
          await writeAll(client, Uint8Array.of(byte));
          await pause(DRIP_MS);
        }
      } else {
        await writeAll(client, piece.subarray(0, count >> 1));
        if (fault === "half an answer, then closes") return;
        return await this.#untilClosed(client);
      }
    }
  }
}

async function flood(client: Deno.TcpConn): Promise<void> {
  await writeAll(
    client,
    bytesOf('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{"a":"'),
  );
  const piece = new Uint8Array(65_536).fill(120);
  for (let sent = 0; sent < FLOOD_BYTES; sent += piece.length) await writeAll(client, piece);
}
