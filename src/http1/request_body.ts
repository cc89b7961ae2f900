import type { WireSocket } from "./wire_socket.ts";

/** How long a body may take. */
export interface BodyPace {
  /** Longest wait for all of it, milliseconds. */
  readonly bodyMs: number;
  /** From then on it must come with {@linkcode BodyPace.bytesPerSecond}, milliseconds. */
  readonly paceAfterMs: number;
  /** Least mean rate. */
  readonly bytesPerSecond: number;
}

const CONTINUE = new TextEncoder().encode("HTTP/1.1 100 Continue\r\n\r\n");
/** Most digits of a chunk's length. */
const MAX_DIGITS = 8;
const CARRIAGE_RETURN = 13;
const LINE_FEED = 10;

/** The body of one request, read from the connection when somebody asks for it. */
export class RequestBody {
  readonly #socket: WireSocket;
  readonly #pieces: AsyncIterator<Uint8Array<ArrayBuffer>>;
  readonly #length: number | undefined;
  #expectsContinue: boolean;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isRead: boolean;
  #isMalformed = false;
  #isGivenUp = false;
  #received = 0;
  /** Milliseconds that were spent waiting, and since when somebody waits. */
  #waited = 0;
  #waitingSince: number | undefined;

  /**
   * @param length bytes; `undefined` for a body in chunks.
   * @param expectsContinue whether the client wants to be asked for it.
   */
  constructor(socket: WireSocket, length: number | undefined, expectsContinue: boolean) {
    this.#socket = socket;
    this.#length = length;
    this.#expectsContinue = expectsContinue;
    this.#isRead = length === 0;
    this.#pieces = length === undefined ? this.#chunks() : socket.exactly(length);
  }

  /** Whether all of it has come. */
  get isRead(): boolean {
    return this.#isRead;
  }

  /** Whether its chunks are none. */
  get isMalformed(): boolean {
    return this.#isMalformed;
  }

  /** Whether what is left is known to be at most so many bytes, and on its way. */
  isShort(limit: number): boolean {
    return !this.#expectsContinue && !this.#isGivenUp && this.#length !== undefined &&
      this.#length - this.#received <= limit;
  }

  /** All of it, where it came with the head. */
  async whole(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const length = this.#length;
    if (length === undefined || length === 0) return undefined;
    if ((await this.#socket.ready(length)).length < length) return undefined;
    this.#isRead = true;
    return this.#socket.take(length);
  }

  /** Piece by piece; fails when the connection ends early. */
  stream(onEnd: () => void): ReadableStream<Uint8Array<ArrayBuffer>> {
    return new ReadableStream({
      start: (controller) => {
        this.#controller = controller;
      },
      pull: async (controller) => {
        const piece = await this.#next();
        if (piece !== undefined) return controller.enqueue(piece);
        controller.close();
        onEnd();
      },
    }, { highWaterMark: 0 });
  }

  /** Reads what nobody wants, so that the next request is found behind it. */
  async skip(): Promise<void> {
    while (await this.#next() !== undefined);
  }

  /** Whether it is waited for too long. */
  isLate(now: number, pace: BodyPace): boolean {
    if (this.#waitingSince === undefined) return false;
    const ms = this.#waited + now - this.#waitingSince;
    return ms > pace.bodyMs ||
      ms > pace.paceAfterMs && this.#received < pace.bytesPerSecond * ms / 1000;
  }

  /** Tells its reader that no more of it will come. */
  giveUp(): void {
    this.#isGivenUp = true;
    this.#controller?.error(new Error("The body comes too slowly"));
  }

  async #next(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    this.#waitingSince = performance.now();
    if (this.#expectsContinue) {
      this.#expectsContinue = false;
      await this.#socket.write(CONTINUE);
    }
    const { done, value } = await this.#pieces.next();
    this.#waited += performance.now() - this.#waitingSince;
    this.#waitingSince = undefined;
    if (done) this.#isRead = true;
    else this.#received += value.length;
    return value ?? undefined;
  }

  /** Without extensions and trailers, which nobody needs and servers read in different ways. */
  async *#chunks(): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
    try {
      for (;;) {
        const { bytes, end, isLast } = wholeChunks(await this.#socket.ready());
        this.#socket.take(end);
        if (bytes.length > 0) yield bytes;
        if (isLast) return;
        const line = await this.#socket.until("\r\n", MAX_DIGITS);
        if (!/^[0-9a-f]{1,8}$/i.test(line)) throw new Error("No chunk");
        const length = parseInt(line, 16);
        yield* this.#socket.exactly(length);
        if (await this.#socket.until("\r\n", 0) !== "") throw new Error("No end of a chunk");
        if (length === 0) return;
      }
    } catch (error) {
      this.#isMalformed = true;
      throw error;
    }
  }
}

/**
 * The chunks that have come as wholes, together: a client may send a byte in each. Leaves what is no
 * chunk, or not yet.
 */
function wholeChunks(
  all: Uint8Array,
): { bytes: Uint8Array<ArrayBuffer>; end: number; isLast: boolean } {
  const bytes = new Uint8Array(all.length);
  let count = 0;
  let end = 0;
  for (;;) {
    const lineEnd = all.indexOf(CARRIAGE_RETURN, end);
    const digits = lineEnd - end;
    if (digits < 1 || digits > MAX_DIGITS) break;
    let length = 0;
    for (let at = end; at < lineEnd; at++) length = 16 * length + hexOf(all[at]!);
    const start = lineEnd + 2;
    const next = start + length + 2;
    // What is not a digit makes it NaN, which no comparison is true of.
    if (!(next <= all.length) || !endsLine(all, start) || !endsLine(all, next)) break;
    bytes.set(all.subarray(start, start + length), count);
    count += length;
    end = next;
    if (length === 0) return { bytes: bytes.subarray(0, count), end, isLast: true };
  }
  return { bytes: bytes.subarray(0, count), end, isLast: false };
}

function endsLine(bytes: Uint8Array, place: number): boolean {
  return bytes[place - 2] === CARRIAGE_RETURN && bytes[place - 1] === LINE_FEED;
}

/** Value of a hexadecimal digit. */
function hexOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : NaN;
}
