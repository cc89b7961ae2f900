import { traceparent } from "../tracing.ts";
import { headerLine, WireHeaders } from "./wire_headers.ts";
import { type ByteConn, bytesOf, concat, WireSocket } from "./wire_socket.ts";

export interface WireRequest {
  readonly method: string;
  /** Path and query, percent-encoded. */
  readonly target: string;
  /** Headers besides `host` and `content-length`. */
  readonly headers: Iterable<readonly [name: string, value: string]>;
  /** Body; absent for methods without one. */
  readonly body?: Uint8Array | undefined;
}

/** The head of an answer, and its body piece by piece. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: WireHeaders;
  /**
   * The body, read from the connection only when a piece is asked for; throws when the connection
   * ends early. Absent when there is none.
   */
  readonly body: AsyncIterator<Uint8Array> | undefined;
  /** The same as one piece, where all of it came with the head. */
  readonly whole?: Uint8Array | undefined;
}

const EMPTY = new Uint8Array();
/** Room for the next answer on an idle connection, bytes: few wait, and most answers fit. */
const ANSWER_PIECE = 8192;
const CARRIAGE_RETURN = 13;
const LINE_FEED = 10;
/** Characters of the line before a chunk. */
const LONGEST_SIZE = 8;

/** One HTTP/1.1 connection to a server of ours, for one request after the other. */
export class HttpConnection {
  readonly #socket: WireSocket;
  readonly #host: string;
  #reusable = true;

  private constructor(socket: WireSocket, host: string) {
    this.#socket = socket;
    this.#host = host;
  }

  /** Speaks over a connection that is there. */
  static over(socket: ByteConn, host: string): HttpConnection {
    return new HttpConnection(new WireSocket(socket), host);
  }

  static async open(url: string): Promise<HttpConnection> {
    const { hostname, port, host } = new URL(url);
    const socket = await Deno.connect({
      hostname: hostname.replace(/^\[|\]$/g, ""),
      port: Number(port || 80),
    });
    return HttpConnection.over(socket, host);
  }

  /** Whether another request may follow once the answer's body has been read to its end. */
  get isReusable(): boolean {
    // What came unasked would be taken for the next answer.
    return this.#reusable && !this.#socket.hasRest;
  }

  /** Resolves when the other end closes, or says something unasked; for idle connections. */
  async untilGone(): Promise<void> {
    await this.#socket.isGone(ANSWER_PIECE);
  }

  /** Closes the connection, also under a request. */
  close(): void {
    this.#reusable = false;
    this.#socket.close();
  }

  /**
   * Sends a request and reads the head of its answer.
   *
   * @throws {TypeError} when the target is not percent-encoded, or a header's value has several lines.
   * @throws {Error} when the connection ends, or the answer is no HTTP.
   */
  async send(request: WireRequest): Promise<WireAnswer> {
    const { method, target, headers, body } = request;
    if (!/^\/[\x21-\x7e]*$/.test(target)) throw new TypeError("The target is not percent-encoded");
    let head = `${method} ${target} HTTP/1.1\r\nhost: ${this.#host}\r\n`;
    for (const [name, value] of headers) head += headerLine(name, value);
    if (body !== undefined) head += `content-length: ${body.length}\r\n`;
    await this.#socket.write(concat(bytesOf(`${head}\r\n`), body ?? EMPTY));
    return await this.#readAnswer();
  }

  async #readAnswer(): Promise<WireAnswer> {
    const [first = "", ...lines] = (await this.#socket.until("\r\n\r\n")).split("\r\n");
    const status = Number(/^HTTP\/1\.1 ([2-5]\d\d)(?: |$)/.exec(first)?.[1]);
    if (Number.isNaN(status)) throw new Error("The answer is not HTTP");
    const headers = WireHeaders.parse(lines);
    if (headers.get("connection")?.toLowerCase() === "close") this.#reusable = false;
    return { status, headers, ...await this.#bodyOf(status, headers) };
  }

  async #bodyOf(
    status: number,
    headers: WireHeaders,
  ): Promise<Pick<WireAnswer, "body" | "whole">> {
    if (status === 204 || status === 304) return { body: undefined };
    if (headers.get("transfer-encoding")?.toLowerCase() === "chunked") {
      const found = chunksIn(await this.#socket.ready());
      if (found === undefined) return { body: this.#chunks() };
      this.#socket.take(found.end);
      return { body: once(found.bytes), whole: found.bytes };
    }
    const length = lengthOf(headers);
    if (length === 0) return { body: undefined };
    if (length === undefined) {
      this.#reusable = false;
      return { body: this.#socket.toEnd() };
    }
    if ((await this.#socket.ready(length)).length < length) {
      return { body: this.#socket.exactly(length) };
    }
    const whole = this.#socket.take(length);
    return { body: once(whole), whole };
  }

  async *#chunks(): AsyncGenerator<Uint8Array, void> {
    for (;;) {
      const length = chunkLength(await this.#socket.until("\r\n"));
      if (length === undefined) throw new Error("The answer is not HTTP");
      yield* this.#socket.exactly(length);
      // Our server sends no trailers, so an empty line follows the last chunk too.
      if (await this.#socket.until("\r\n") !== "") throw new Error("The answer is not HTTP");
      if (length === 0) return;
    }
  }
}

/** Length of a body by its head; throws when that is none. */
function lengthOf(headers: WireHeaders): number | undefined {
  const length = headers.get("content-length");
  if (length === null) return undefined;
  if (!/^\d{1,12}$/.test(length)) throw new Error("The answer is not HTTP");
  return Number(length);
}

/** Length of a chunk by its first line. */
function chunkLength(line: string): number | undefined {
  const size = /^([0-9a-f]{1,8})(?:;|$)/i.exec(line)?.[1];
  return size === undefined ? undefined : parseInt(size, 16);
}

/**
 * What all chunks of a body hold, and where the body ends; `undefined` when not all of it is there,
 * or it is not as our server writes it.
 */
function chunksIn(bytes: Uint8Array): { bytes: Uint8Array; end: number } | undefined {
  let all: Uint8Array = EMPTY;
  for (let at = 0;;) {
    const lineEnd = bytes.indexOf(CARRIAGE_RETURN, at);
    if (lineEnd < 0 || lineEnd - at > LONGEST_SIZE) return undefined;
    const length = chunkLength(String.fromCharCode(...bytes.subarray(at, lineEnd)));
    if (length === undefined) return undefined;
    const start = lineEnd + 2;
    const end = start + length + 2;
    if (!endsLine(bytes, start) || !endsLine(bytes, end)) return undefined;
    if (length === 0) return { bytes: all, end };
    all = concat(all, bytes.subarray(start, end - 2));
    at = end;
  }
}

/** Whether a line ends right before a place. */
function endsLine(bytes: Uint8Array, place: number): boolean {
  return bytes[place - 2] === CARRIAGE_RETURN && bytes[place - 1] === LINE_FEED;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield await Promise.resolve(bytes);
}

export interface PooledAnswer extends WireAnswer {
  /** To be called once the body has been read, or is not wanted any more. */
  close(): void;
}

/** Idle connections that are kept. */
const MAX_IDLE = 128;

/** Connections to one server, each for one request at a time, kept open in between. */
export class ConnectionPool implements Disposable {
  readonly #connect: () => Promise<HttpConnection>;
  readonly #idle: HttpConnection[] = [];
  #disposed = false;

  /** Connects at the first request. */
  constructor(connect: () => Promise<HttpConnection>) {
    this.#connect = connect;
  }

  /**
   * Sends a request and waits for the head of its answer.
   *
   * @throws {Error} when nobody answers; the signal's reason when it is aborted.
   */
  async send(request: WireRequest, signal: AbortSignal): Promise<PooledAnswer> {
    signal.throwIfAborted();
    const connection = this.#idle.pop() ?? await this.#connect();
    const cut = () => connection.close();
    signal.addEventListener("abort", cut);
    if (signal.aborted) cut();
    try {
      const answer = await connection.send(inTrace(request));
      let isRead = answer.body === undefined || answer.whole !== undefined;
      let isClosed = false;
      return {
        ...answer,
        body: answer.body && noticeEnd(answer.body, () => isRead = true),
        close: () => {
          if (isClosed) return;
          isClosed = true;
          if (isRead) this.#keep(connection);
          else connection.close();
        },
      };
    } catch (error) {
      connection.close();
      // Else a caller that gave up would look like a server that failed.
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener("abort", cut);
    }
  }

  /** Closes what is idle, and everything else once it is done. */
  [Symbol.dispose](): void {
    this.#disposed = true;
    for (const connection of this.#idle.splice(0)) connection.close();
  }

  #keep(connection: HttpConnection): void {
    if (this.#disposed || !connection.isReusable || this.#idle.length >= MAX_IDLE) {
      return connection.close();
    }
    this.#idle.push(connection);
    void this.#dropWhenGone(connection);
  }

  async #dropWhenGone(connection: HttpConnection): Promise<void> {
    await connection.untilGone();
    const at = this.#idle.indexOf(connection);
    if (at < 0) return;
    this.#idle.splice(at, 1);
    connection.close();
  }
}

/** A request that says which span it is part of, where spans are recorded. */
function inTrace(request: WireRequest): WireRequest {
  const span = traceparent();
  if (span === undefined) return request;
  return { ...request, headers: [...request.headers, ["traceparent", span]] };
}

async function* noticeEnd(
  body: AsyncIterator<Uint8Array>,
  onEnd: () => void,
): AsyncGenerator<Uint8Array, void> {
  for (let piece = await body.next(); !piece.done; piece = await body.next()) yield piece.value;
  onEnd();
}
