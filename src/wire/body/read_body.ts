import { within } from "../../deadline.ts";
import { SvcError } from "../../errors.ts";
import { GatheredBytes } from "./gathered_bytes.ts";
import { Pauses } from "./pauses.ts";

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
  const pauses = new Pauses();
  try {
    for (;;) {
      const room = Math.min(Math.max(gathered.length, LEAST_ROOM), MOST_ROOM);
      const part = await parts.next(room);
      if (isLate) throw new SvcError("request_timeout");
      if (part === undefined) return gathered.bytes;
      if (gathered.length + part.length > limit) throw new SvcError("body_too_large");
      onPart?.(part.length);
      gathered.add(part);
      await pauses.next();
    }
  } catch (cause) {
    giveUp();
    return brokenOff(cause);
  } finally {
    clearTimeout(timer);
  }
}
