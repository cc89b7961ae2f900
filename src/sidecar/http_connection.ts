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

/** Largest head of an answer, bytes. */
const MAX_HEAD = 65_536;
const PIECE = 32_768;
const EMPTY = new Uint8Array();
const latin1 = new TextDecoder("latin1");

/** Header values are bytes, one a UTF-16 unit. */
function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (unit) => unit.charCodeAt(0));
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length === 0) return b;
  const bytes = new Uint8Array(a.length + b.length);
  bytes.set(a);
  bytes.set(b, a.length);
  return bytes;
}

/** Index of a line end, or of an empty line; -1 when there is none yet. */
function find(bytes: Uint8Array, separator: string): number {
  for (let at = bytes.indexOf(13); at >= 0; at = bytes.indexOf(13, at + 1)) {
    let same = 1;
    while (same < separator.length && bytes[at + same] === separator.charCodeAt(same)) same++;
    if (same === separator.length) return at;
  }
  return -1;
}

const ended = () => new Error("The connection ended early");

/** One HTTP/1.1 connection to a server of ours, for one request after the other. */
export class HttpConnection {
  readonly #socket: Deno.TcpConn;
  readonly #host: string;
  /** A read under way: on an idle connection it tells when the other end is gone. */
  #ahead: Promise<Uint8Array | null> | undefined;
  #rest: Uint8Array = EMPTY;
  #reusable = true;

  private constructor(socket: Deno.TcpConn, host: string) {
    this.#socket = socket;
    this.#host = host;
    socket.setNoDelay(true);
  }

  /** Connects to `http://host:port`. */
  static async open(url: string): Promise<HttpConnection> {
    const { hostname, port, host } = new URL(url);
    const socket = await Deno.connect({
      hostname: hostname.replace(/^\[|\]$/g, ""),
      port: Number(port || 80),
    });
    return new HttpConnection(socket, host);
  }

  /** Whether another request may follow once the answer's body has been read to its end. */
  get isReusable(): boolean {
    return this.#reusable;
  }

  /** Resolves when the other end closes, or says something unasked; for idle connections. */
  async untilGone(): Promise<void> {
    await (this.#ahead ??= this.#read()).catch(() => null);
  }

  /** Closes the connection, also under a request. */
  close(): void {
    this.#reusable = false;
    try {
      this.#socket.close();
    } catch {
      // It is closed.
    }
  }

  /**
   * Sends a request and reads the head of its answer.
   *
   * @throws {Error} when the connection ends, or the answer is no HTTP.
   */
  async send(request: WireRequest): Promise<WireAnswer> {
    const { method, target, headers, body } = request;
    let head = `${method} ${target} HTTP/1.1\r\nhost: ${this.#host}\r\n`;
    for (const [name, value] of headers) head += `${name}: ${value}\r\n`;
    if (body !== undefined) head += `content-length: ${body.length}\r\n`;
    await this.#write(concat(bytesOf(`${head}\r\n`), body ?? EMPTY));
    return await this.#readAnswer();
  }

  async #readAnswer(): Promise<WireAnswer> {
    const [first = "", ...lines] = (await this.#until("\r\n\r\n", MAX_HEAD)).split("\r\n");
    const status = Number(/^HTTP\/1\.1 ([2-5]\d\d)(?: |$)/.exec(first)?.[1]);
    if (Number.isNaN(status)) throw new Error("The answer is not HTTP");
    const headers = new Headers();
    for (const line of lines) {
      const colon = line.indexOf(":");
      headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
    }
    if (headers.get("connection")?.toLowerCase() === "close") this.#reusable = false;
    return { status, headers, body: this.#bodyOf(status, headers) };
  }

  #bodyOf(status: number, headers: Headers): AsyncIterator<Uint8Array> | undefined {
    if (status === 204 || status === 304) return undefined;
    if (headers.get("transfer-encoding")?.toLowerCase() === "chunked") return this.#chunks();
    const length = headers.get("content-length");
    if (length === null) {
      this.#reusable = false;
      return this.#toEnd();
    }
    return Number(length) === 0 ? undefined : this.#exactly(Number(length));
  }

  async *#chunks(): AsyncGenerator<Uint8Array, void> {
    for (;;) {
      const size = /^[0-9a-f]{1,8}/i.exec(await this.#until("\r\n", MAX_HEAD))?.[0];
      if (size === undefined) throw new Error("The answer is not HTTP");
      const length = parseInt(size, 16);
      yield* this.#exactly(length);
      // Our server sends no trailers, so an empty line follows the last chunk too.
      await this.#until("\r\n", MAX_HEAD);
      if (length === 0) return;
    }
  }

  async *#exactly(length: number): AsyncGenerator<Uint8Array, void> {
    for (let left = length; left > 0;) {
      if (this.#rest.length === 0) await this.#fill();
      const piece = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }

  async *#toEnd(): AsyncGenerator<Uint8Array, void> {
    for (let piece: Uint8Array | null = this.#rest; piece !== null; piece = await this.#read()) {
      if (piece.length > 0) yield piece;
    }
  }

  /** Text up to a separator, which is dropped. */
  async #until(separator: "\r\n" | "\r\n\r\n", limit: number): Promise<string> {
    for (;;) {
      const at = find(this.#rest, separator);
      if (at >= 0) {
        const text = latin1.decode(this.#rest.subarray(0, at));
        this.#rest = this.#rest.subarray(at + separator.length);
        return text;
      }
      if (this.#rest.length > limit) throw new Error("The answer's head is too long");
      await this.#fill();
    }
  }

  async #fill(): Promise<void> {
    const pending = this.#ahead ?? this.#read();
    this.#ahead = undefined;
    const piece = await pending;
    if (piece === null) throw ended();
    this.#rest = concat(this.#rest, piece);
  }

  async #read(): Promise<Uint8Array | null> {
    const piece = new Uint8Array(PIECE);
    const count = await this.#socket.read(piece);
    return count === null ? null : piece.subarray(0, count);
  }

  async #write(bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.length;) {
      done += await this.#socket.write(bytes.subarray(done));
    }
  }
}
