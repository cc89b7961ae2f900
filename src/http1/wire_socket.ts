import { Buffer } from "node:buffer";
import { setImmediate } from "node:timers";

/** Largest head of an answer, bytes. */
const MAX_HEAD = 65_536;
/** A thousand connections wait in a read each: only one that is busy gets a large buffer. */
const SMALL_PIECE = 1024;
const LARGE_PIECE = 32_768;
/** Bytes that have already arrived are joined up to this many. */
const GATHERED = 65_536;
const CARRIAGE_RETURN = 13;
const LINE_FEED = 10;

/**
 * The bytes of a head, one a UTF-16 unit.
 *
 * @throws {TypeError} when a unit is no byte: cut to one, it could end a line.
 */
export function bytesOf(text: string): Uint8Array {
  if (/[^\0-\xff]/.test(text)) throw new TypeError("A head holds what is no byte");
  return Buffer.from(text, "latin1");
}

/** One UTF-16 unit a byte. `TextDecoder` would not do: its Latin-1 is windows-1252. */
function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

export function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length === 0) return b;
  const bytes = new Uint8Array(a.length + b.length);
  bytes.set(a);
  bytes.set(b, a.length);
  return bytes;
}

/** Index of a line end, or of an empty line, from a place on; -1 when there is none yet. */
function find(bytes: Uint8Array, separator: string, from: number): number {
  for (let at = bytes.indexOf(13, from); at >= 0; at = bytes.indexOf(13, at + 1)) {
    let same = 1;
    while (same < separator.length && bytes[at + same] === separator.charCodeAt(same)) same++;
    if (same === separator.length) return at;
  }
  return -1;
}

/** Whether a line ends with a line feed alone, from a place on. */
function hasBareLineFeed(bytes: Uint8Array, from: number): boolean {
  for (let at = bytes.indexOf(LINE_FEED, from); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) {
    if (bytes[at - 1] !== CARRIAGE_RETURN) return true;
  }
  return false;
}

/** Whether a promise is settled within a turn of the event loop. */
export async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  promise.then(settle, settle);
  await undefined;
  if (!settled) await new Promise<void>((resolve) => setImmediate(resolve));
  return settled;
}

/** Thrown for a head that cannot become one. */
export class BadHead extends Error {
  /** @param isTooLong Whether it is longer than allowed; else a line of it ends wrongly. */
  constructor(readonly isTooLong: boolean) {
    super(isTooLong ? "The head is too long" : "A line of the head ends wrongly");
  }
}

/** A connection that carries bytes. */
export type ByteConn = Pick<Deno.Conn, "read" | "write" | "close" | "closeWrite">;

/** A TCP or TLS connection as HTTP reads and writes it. */
export class WireSocket {
  readonly #conn: ByteConn;
  readonly #piece: number;
  /** A read under way: on an idle connection it tells when the other end is gone. */
  #ahead: Promise<boolean> | undefined;
  /** What came and was not taken is from `start` to `end`; what was taken is never overwritten. */
  #buffer = new Uint8Array();
  #start = 0;
  #end = 0;
  #busy = false;
  #writingSince: number | undefined;

  /** @param piece Bytes that an idle connection has room for. */
  constructor(conn: ByteConn, piece: number = SMALL_PIECE) {
    this.#conn = conn;
    this.#piece = piece;
    // TLS connections have no delay from the start.
    if ("setNoDelay" in conn) (conn as Deno.TcpConn).setNoDelay(true);
  }

  /** When the write began that the other end does not take, `performance.now()`. */
  get writingSince(): number | undefined {
    return this.#writingSince;
  }

  /**
   * Waits until the other end closes, or sends something, which is kept; whether it closed.
   *
   * @param room for what it sends, bytes.
   */
  async isGone(room?: number): Promise<boolean> {
    if (this.hasRest) return false;
    return !await (this.#ahead ??= this.#read(room)).catch(() => false);
  }

  /** Closes the connection, also under a read or a write. */
  close(): void {
    try {
      this.#conn.close();
    } catch {
      // It is closed.
    }
  }

  /** Tells the other end that nothing more comes, and reads what it still sends, up to a limit. */
  async finish(limit: number): Promise<void> {
    await this.#conn.closeWrite();
    for (let read = this.#end - this.#start; read < limit; read += this.#end - this.#start) {
      this.#start = this.#end;
      await this.#fill();
    }
  }

  /**
   * Text up to a separator, which is dropped.
   *
   * @param limit of the text, bytes.
   * @throws {BadHead} when the text is too long, or, of a head, a line ends with a line feed alone.
   * @throws {Error} when the connection ends before.
   */
  async until(separator: "\r\n" | "\r\n\r\n", limit = MAX_HEAD): Promise<string> {
    for (let searched = 0;;) {
      const rest = this.#rest;
      const at = find(rest, separator, Math.max(0, searched - separator.length + 1));
      if (at > limit || at < 0 && rest.length >= limit + separator.length) throw new BadHead(true);
      if (at >= 0) {
        this.#start += at + separator.length;
        return textOf(rest.subarray(0, at));
      }
      if (hasBareLineFeed(rest, searched)) throw new BadHead(false);
      searched = rest.length;
      await this.#fill();
    }
  }

  /** Whether something has come that was not read yet. */
  get hasRest(): boolean {
    return this.#end > this.#start;
  }

  get #rest(): Uint8Array<ArrayBuffer> {
    return this.#buffer.subarray(this.#start, this.#end);
  }

  /**
   * What has come and was not read yet; never waits for the other end. Holds until the next call.
   *
   * @param length of the body, where the head names it: some 64 KiB are enough.
   */
  async ready(length?: number): Promise<Uint8Array> {
    const enough = Math.min(length ?? GATHERED, GATHERED);
    // Behind a buffer that was filled there is more. A server may write head and body one by one.
    while ((this.#busy || length !== undefined) && this.#end - this.#start < enough) {
      const read = this.#ahead ??= this.#read();
      if (!await isSettled(read)) break;
      // Whoever needs more than this reads on, and finds the end.
      if (!await read.catch(() => false)) break;
    }
    return this.#rest;
  }

  /** Takes the first bytes of what is {@linkcode WireSocket.ready}. */
  take(count: number): Uint8Array<ArrayBuffer> {
    const start = this.#start;
    this.#start = Math.min(this.#end, start + count);
    return this.#buffer.subarray(start, this.#start);
  }

  /** Yields this many bytes piece by piece; throws when the connection ends earlier. */
  async *exactly(length: number): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
    for (let left = length; left > 0;) {
      if (!this.hasRest) await this.#fill();
      const piece = this.take(left);
      left -= piece.length;
      yield piece;
    }
  }

  /** Everything until the other end closes. */
  async *toEnd(): AsyncGenerator<Uint8Array, void> {
    do {
      if (this.hasRest) yield this.take(Infinity);
    } while (await (this.#ahead ??= this.#read()));
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.length;) {
      this.#writingSince = performance.now();
      done += await this.#conn.write(done === 0 ? bytes : bytes.subarray(done));
      this.#writingSince = undefined;
    }
  }

  async #fill(): Promise<void> {
    if (!await (this.#ahead ??= this.#read())) throw new Error("The connection ended early");
  }

  /** Reads once; whether something came, and not the end. */
  async #read(room = this.#busy ? LARGE_PIECE : this.#piece): Promise<boolean> {
    this.#makeRoom(room);
    const free = this.#buffer.subarray(this.#end);
    const count = await this.#conn.read(free);
    this.#busy = count === free.length;
    // What ended, or failed, stays so.
    if (count === null) return false;
    this.#end += count;
    this.#ahead = undefined;
    return true;
  }

  #makeRoom(room: number): void {
    const kept = this.#end - this.#start;
    const free = this.#buffer.length - this.#end;
    // A large buffer is not left to a connection that waits.
    if (free >= room / 4 && (kept > 0 || this.#buffer.length <= room)) return;
    const buffer = new Uint8Array(kept + room);
    buffer.set(this.#rest);
    this.#buffer = buffer;
    this.#start = 0;
    this.#end = kept;
  }
}
