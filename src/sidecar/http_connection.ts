import { bytesOf, concat, headersOf, WireSocket } from "./wire_socket.ts";

/** A request as it goes over the wire. */
export interface WireRequest {
  /** HTTP method. */
  readonly method: string;
  /** Path and query, percent-encoded. */
  readonly target: string;
  /** Headers besides `host` and `content-length`. */
  readonly headers: Headers;
  /** Body; absent for methods without one. */
  readonly body?: Uint8Array | undefined;
}

/** The head of an answer, and its body piece by piece. */
export interface WireAnswer {
  /** HTTP status. */
  readonly status: number;
  /** Headers. */
  readonly headers: Headers;
  /**
   * The body, read from the connection only when a piece is asked for; throws when the connection
   * ends early. Absent when there is none.
   */
  readonly body: AsyncIterator<Uint8Array> | undefined;
}

const EMPTY = new Uint8Array();

/** One HTTP/1.1 connection to a server of ours, for one request after the other. */
export class HttpConnection {
  readonly #socket: WireSocket;
  readonly #host: string;
  #reusable = true;

  private constructor(socket: WireSocket, host: string) {
    this.#socket = socket;
    this.#host = host;
  }

  /** Connects to `http://host:port`. */
  static async open(url: string): Promise<HttpConnection> {
    const { hostname, port, host } = new URL(url);
    const socket = await Deno.connect({
      hostname: hostname.replace(/^\[|\]$/g, ""),
      port: Number(port || 80),
    });
    return new HttpConnection(new WireSocket(socket), host);
  }

  /** Whether another request may follow once the answer's body has been read to its end. */
  get isReusable(): boolean {
    return this.#reusable;
  }

  /** Resolves when the other end closes, or says something unasked; for idle connections. */
  async untilGone(): Promise<void> {
    await this.#socket.isGone();
  }

  /** Closes the connection, also under a request. */
  close(): void {
    this.#reusable = false;
    this.#socket.close();
  }

  /**
   * Sends a request and reads the head of its answer.
   *
   * @throws {TypeError} when the target is not percent-encoded, and could hold lines of its own.
   * @throws {Error} when the connection ends, or the answer is no HTTP.
   */
  async send(request: WireRequest): Promise<WireAnswer> {
    const { method, target, headers, body } = request;
    if (!/^\/[\x21-\x7e]*$/.test(target)) throw new TypeError("The target is not percent-encoded");
    let head = `${method} ${target} HTTP/1.1\r\nhost: ${this.#host}\r\n`;
    for (const [name, value] of headers) head += `${name}: ${value}\r\n`;
    if (body !== undefined) head += `content-length: ${body.length}\r\n`;
    await this.#socket.write(concat(bytesOf(`${head}\r\n`), body ?? EMPTY));
    return await this.#readAnswer();
  }

  async #readAnswer(): Promise<WireAnswer> {
    const [first = "", ...lines] = (await this.#socket.until("\r\n\r\n")).split("\r\n");
    const status = Number(/^HTTP\/1\.1 ([2-5]\d\d)(?: |$)/.exec(first)?.[1]);
    if (Number.isNaN(status)) throw new Error("The answer is not HTTP");
    const headers = headersOf(lines);
    if (headers.get("connection")?.toLowerCase() === "close") this.#reusable = false;
    return { status, headers, body: this.#bodyOf(status, headers) };
  }

  #bodyOf(status: number, headers: Headers): AsyncIterator<Uint8Array> | undefined {
    if (status === 204 || status === 304) return undefined;
    if (headers.get("transfer-encoding")?.toLowerCase() === "chunked") return this.#chunks();
    const length = headers.get("content-length");
    if (length === null) {
      this.#reusable = false;
      return this.#socket.toEnd();
    }
    return Number(length) === 0 ? undefined : this.#socket.exactly(Number(length));
  }

  async *#chunks(): AsyncGenerator<Uint8Array, void> {
    for (;;) {
      const size = /^([0-9a-f]{1,8})(?:;|$)/i.exec(await this.#socket.until("\r\n"))?.[1];
      if (size === undefined) throw new Error("The answer is not HTTP");
      const length = parseInt(size, 16);
      yield* this.#socket.exactly(length);
      // Our server sends no trailers, so an empty line follows the last chunk too.
      if (await this.#socket.until("\r\n") !== "") throw new Error("The answer is not HTTP");
      if (length === 0) return;
    }
  }
}
