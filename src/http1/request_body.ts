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
/** Longest line before a chunk, bytes. */
const MAX_SIZE_LINE = 16;

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
        const line = await this.#socket.until("\r\n", MAX_SIZE_LINE);
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
