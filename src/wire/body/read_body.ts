import { within } from "../../deadline.ts";
import { SvcError } from "../../errors.ts";

/** Deeper nesting is refused: the parser's time grows with it. */
const MAX_DEPTH = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Where the string ends whose opening quote is at `start`; the length when it never does. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let end = start;;) {
    // Natively: a text of a megabyte is one string.
    end = bytes.indexOf(QUOTE, end + 1);
    if (end < 0) return bytes.length;
    let backslashes = 0;
    while (bytes[end - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
}

/** Whether brackets outside of strings nest deeper than 64 levels in the bytes of a JSON text. */
export function isTooDeep(bytes: Uint8Array): boolean {
  let depth = 0;
  for (let i = 0; i < bytes.length; i++) {
    switch (bytes[i]) {
      case QUOTE:
        i = endOfString(bytes, i);
        break;
      case 0x5b:
      case 0x7b:
        if (++depth > MAX_DEPTH) return true;
        break;
      case 0x5d:
      case 0x7d:
        depth--;
        break;
    }
  }
  return false;
}

/** Buffered chunks never yield to the event loop, so yield after this many. */
const PARTS_A_TURN = 32;

/** Bodies that yield at this moment, in the whole process: they share one event loop. */
let pausing = 0;

/**
 * Bytes that come in parts, each copied: a part may be a byte in a buffer of 64 KiB, which would be
 * held with it.
 */
export class GatheredBytes {
  #bytes = new Uint8Array();
  #length = 0;
  #parts = 0;

  get length(): number {
    return this.#length;
  }

  /**
   * Adds a part at once; to be waited for, because others have a turn now and then. The more bodies
   * come in crumbs, the longer each waits: together they must not fill the time.
   */
  async add(part: Uint8Array): Promise<void> {
    const length = this.#length + part.length;
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.#bytes.length));
      larger.set(this.bytes);
      this.#bytes = larger;
    }
    this.#bytes.set(part, this.#length);
    this.#length = length;
    if (++this.#parts % PARTS_A_TURN !== 0) return;
    pausing++;
    await new Promise((resolve) => setTimeout(resolve, pausing));
    pausing--;
  }

  /** All of them, as a view. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length);
  }
}

/**
 * All bytes of an answer; yields to other work meanwhile.
 *
 * @param tooLarge Makes the error for an answer of more than `maxBytes`, the rest of which is given up.
 */
export async function gather(
  { body }: Response,
  maxBytes: number,
  tooLarge: () => Error,
): Promise<Uint8Array<ArrayBuffer>> {
  const gathered = new GatheredBytes();
  // Leaving the loop cancels the stream.
  for await (const part of body ?? []) {
    if (gathered.length + part.length > maxBytes) throw tooLarge();
    await gathered.add(part);
  }
  return gathered.bytes;
}

interface BodyBounds {
  /** Most bytes it may have. */
  readonly limit: number;
  /** Longest wait for all of it, milliseconds. */
  readonly timeoutMs: number;
  /** Called with the length of each part before it is kept; what it throws ends the reading. */
  readonly onPart?: (bytes: number) => void;
}

/** Buffer for the next chunk, bytes: as large as what has come so far, within these bounds. */
const LEAST_ROOM = 4_096;
const MOST_ROOM = 65_536;

interface Parts {
  /** The next part; `undefined` when there is none, or the rest was cancelled. */
  next(room: number): Promise<Uint8Array | undefined>;
  /** Gives up the rest. */
  cancel(): Promise<void>;
}

/** Reads into our own buffer where the stream allows it: its default takes 64 KiB just to wait. */
function partsOf(body: ReadableStream<Uint8Array>): Parts {
  try {
    const reader = body.getReader({ mode: "byob" });
    return {
      async next(room) {
        const { done, value } = await reader.read(new Uint8Array(room));
        return done ? undefined : value;
      },
      cancel: () => reader.cancel(),
    };
  } catch {
    // What is in memory already, or does not come from a connection.
    const reader = body.getReader();
    return { next: async () => (await reader.read()).value, cancel: () => reader.cancel() };
  }
}

/**
 * Announced bodies of up to so many bytes are left to the platform: it keeps their bytes and nothing
 * else, in half the time of a stream, and reads on when one is given up.
 */
const SMALL_BYTES = 16_384;

/**
 * Reads a whole body. One that is given up is cancelled, so that little of it stays.
 *
 * @throws {SvcError} `body_too_large`; `request_timeout`, also for one that breaks off.
 */
export async function readBody(
  request: Request,
  bounds: BodyBounds,
): Promise<Uint8Array<ArrayBuffer>> {
  if (request.body === null) return new Uint8Array();
  const announced = Number(request.headers.get("content-length") ?? Infinity);
  if (!(announced <= SMALL_BYTES)) return await readParts(request.body, bounds);
  const bytes = await within(bounds.timeoutMs, request.bytes(), () => {
    throw new SvcError("request_timeout");
  }).catch(brokenOff);
  if (bytes.length > bounds.limit) throw new SvcError("body_too_large");
  bounds.onPart?.(bytes.length);
  return bytes;
}

function brokenOff(cause: unknown): never {
  throw cause instanceof SvcError ? cause : new SvcError("request_timeout", undefined, { cause });
}

async function readParts(
  body: ReadableStream<Uint8Array>,
  { limit, timeoutMs, onPart }: BodyBounds,
): Promise<Uint8Array<ArrayBuffer>> {
  const parts = partsOf(body);
  // A stream whose source does not answer is not waited for either.
  const giveUp = () => void parts.cancel().catch(() => {});
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    giveUp();
  }, timeoutMs);
  const gathered = new GatheredBytes();
  try {
    for (;;) {
      const room = Math.min(Math.max(gathered.length, LEAST_ROOM), MOST_ROOM);
      const part = await parts.next(room);
      if (isLate) throw new SvcError("request_timeout");
      if (part === undefined) return gathered.bytes;
      if (gathered.length + part.length > limit) throw new SvcError("body_too_large");
      onPart?.(part.length);
      await gathered.add(part);
    }
  } catch (cause) {
    giveUp();
    return brokenOff(cause);
  } finally {
    clearTimeout(timer);
  }
}
