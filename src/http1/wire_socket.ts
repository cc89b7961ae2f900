import { Buffer } from "node:buffer";
import { setImmediate } from "node:timers";

/** Largest head of a message, bytes. */
const MAX_HEAD = 65_536;
/** A thousand connections wait in a read each: only one that is busy gets a large buffer. */
const SMALL_PIECE = 1024;
const LARGE_PIECE = 32_768;
/** Bytes that have already arrived are joined up to this many. */
const GATHERED = 65_536;
const EMPTY = new Uint8Array();

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

/** Index of a line end, or of an empty line; -1 when there is none yet. */
function find(bytes: Uint8Array, separator: string): number {
  for (let at = bytes.indexOf(13); at >= 0; at = bytes.indexOf(13, at + 1)) {
    let same = 1;
    while (same < separator.length && bytes[at + same] === separator.charCodeAt(same)) same++;
    if (same === separator.length) return at;
  }
  return -1;
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

/** A TCP connection as HTTP reads and writes it. */
export class WireSocket {
  readonly #socket: Deno.TcpConn;
  /** A read under way: on an idle connection it tells when the other end is gone. */
  #ahead: Promise<Uint8Array | null> | undefined;
  #rest: Uint8Array = EMPTY;
  #busy = false;

  constructor(socket: Deno.TcpConn) {
    this.#socket = socket;
    socket.setNoDelay(true);
  }

  /**
   * Waits until the other end closes, or sends something, which is kept; whether it closed.
   *
   * @param room for what it sends, bytes.
   */
  async isGone(room?: number): Promise<boolean> {
    if (this.#rest.length > 0) return false;
    return await (this.#ahead ??= this.#read(room)).catch(() => null) === null;
  }

  /** Closes the connection, also under a read. */
  close(): void {
    try {
      this.#socket.close();
    } catch {
      // It is closed.
    }
  }

  /**
   * Text up to a separator, which is dropped.
   *
   * @throws {Error} when the connection ends before, or the text is too long.
   */
  async until(separator: "\r\n" | "\r\n\r\n"): Promise<string> {
    for (;;) {
      const at = find(this.#rest, separator);
      if (at >= 0) {
        const text = textOf(this.#rest.subarray(0, at));
        this.#rest = this.#rest.subarray(at + separator.length);
        return text;
      }
      if (this.#rest.length > MAX_HEAD) throw new Error("The head is too long");
      await this.#fill();
    }
  }

  /** Whether something has come that was not read yet. */
  get hasRest(): boolean {
    return this.#rest.length > 0;
  }

  /**
   * What has come and was not read yet; never waits for the other end. Holds until the next call.
   *
   * @param length of the body, where the head names it: some 64 KiB are enough.
   */
  async ready(length?: number): Promise<Uint8Array> {
    const enough = Math.min(length ?? GATHERED, GATHERED);
    // Behind a buffer that was filled there is more. A server may write head and body one by one.
    while ((this.#busy || length !== undefined) && this.#rest.length < enough) {
      this.#ahead ??= this.#read();
      if (!await isSettled(this.#ahead)) break;
      const piece = await this.#ahead.catch(() => null);
      // Whoever needs more than this reads on, and finds the end.
      if (piece === null) break;
      this.#ahead = undefined;
      this.#rest = concat(this.#rest, piece);
    }
    return this.#rest;
  }

  /** Takes the first bytes of what is {@linkcode WireSocket.ready}. */
  take(count: number): Uint8Array {
    const bytes = this.#rest.subarray(0, count);
    this.#rest = this.#rest.subarray(count);
    return bytes;
  }

  /** Yields this many bytes piece by piece; throws when the connection ends earlier. */
  async *exactly(length: number): AsyncGenerator<Uint8Array, void> {
    for (let left = length; left > 0;) {
      if (this.#rest.length === 0) await this.#fill();
      const piece = this.take(left);
      left -= piece.length;
      yield piece;
    }
  }

  /** Everything until the other end closes. */
  async *toEnd(): AsyncGenerator<Uint8Array, void> {
    for (let piece: Uint8Array | null = this.#rest; piece !== null; piece = await this.#read()) {
      if (piece.length > 0) yield piece;
    }
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.length;) {
      done += await this.#socket.write(bytes.subarray(done));
    }
  }

  async #fill(): Promise<void> {
    const pending = this.#ahead ?? this.#read();
    this.#ahead = undefined;
    const piece = await pending;
    if (piece === null) throw new Error("The connection ended early");
    this.#rest = concat(this.#rest, piece);
  }

  async #read(room = this.#busy ? LARGE_PIECE : SMALL_PIECE): Promise<Uint8Array | null> {
    const piece = new Uint8Array(room);
    const count = await this.#socket.read(piece);
    this.#busy = count === piece.length;
    return count === null ? null : piece.subarray(0, count);
  }
}
