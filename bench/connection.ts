import { Buffer } from "node:buffer";
import type { WireRequest } from "./signing_key.ts";

/** An answer; every answer of the relayer names its length. */
export interface WireAnswer {
  /** HTTP status. */
  readonly status: number;
  /** The body. */
  readonly body: Uint8Array;
}

const HEAD_END = Buffer.from("\r\n\r\n");
const decoder = new TextDecoder();

/** A keep-alive connection that sends prepared bytes: cheaper than `fetch`, so it measures less of itself. */
export class Connection implements Disposable {
  readonly #socket: Deno.Conn;
  #buffer = Buffer.alloc(64 * 1024);

  private constructor(socket: Deno.Conn) {
    this.#socket = socket;
  }

  /**
   * Connects to a local port.
   *
   * @param certificate What the server proves its name with, in PEM, where it speaks TLS.
   */
  static async open(port: number, certificate?: string): Promise<Connection> {
    if (certificate !== undefined) {
      const caCerts = [certificate];
      return new Connection(await Deno.connectTls({ hostname: "localhost", port, caCerts }));
    }
    const socket = await Deno.connect({ hostname: "127.0.0.1", port });
    socket.setNoDelay(true);
    return new Connection(socket);
  }

  /** Sends a request and reads its answer; the body is valid until the next request. */
  async send(request: WireRequest): Promise<WireAnswer> {
    for (let sent = 0; sent < request.length;) {
      sent += await this.#socket.write(sent === 0 ? request : request.subarray(sent));
    }
    let have = 0;
    let end = Infinity;
    let bodyStart = 0;
    let status = 0;
    while (have < end) {
      if (have === this.#buffer.length) {
        this.#buffer = Buffer.concat([this.#buffer, Buffer.alloc(have)]);
      }
      const read = await this.#socket.read(this.#buffer.subarray(have));
      if (read === null) throw new Error("The server closed the connection");
      have += read;
      if (end !== Infinity) continue;
      const headEnd = this.#buffer.subarray(0, have).indexOf(HEAD_END);
      if (headEnd < 0) continue;
      const head = this.#buffer.toString("latin1", 0, headEnd);
      status = Number(head.slice(9, 12));
      bodyStart = headEnd + 4;
      end = bodyStart + Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    }
    return { status, body: this.#buffer.subarray(bodyStart, end) };
  }

  /** Sends a request whose answer must have this status; answers the parsed body. */
  async json(request: WireRequest, status = 200): Promise<Record<string, unknown>> {
    const answer = await this.send(request);
    const text = decoder.decode(answer.body);
    if (answer.status !== status) throw new Error(`${answer.status} instead of ${status}: ${text}`);
    return JSON.parse(text);
  }

  /** Closes the connection. */
  [Symbol.dispose](): void {
    this.#socket.close();
  }
}
