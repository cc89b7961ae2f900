import { Deadline } from "../../../../src/deadline.ts";
import { gather } from "../../../../src/wire/body/gathered_bytes.ts";
import { retryAfterOf } from "../../../shared/retry_after.ts";

/** Why an aggregator gave no usable answer; holds nothing it said but its status. */
export class AggregatorFailure extends Error {
  /** Always `"AggregatorFailure"`. */
  override readonly name = "AggregatorFailure";
  /** Milliseconds it asks to be left alone. */
  readonly pauseMs: number;

  /** The message must be safe for callers. */
  constructor(message: string, { pauseMs = 0, cause }: { pauseMs?: number; cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.pauseMs = pauseMs;
  }
}

/** Bounds of one request. */
export interface AskOptions {
  /** Most bytes of the answer. */
  readonly maxBytes: number;
  /** Longest time in milliseconds, from the first byte sent to the last one read. */
  readonly timeoutMs: number;
  /** Ends the request; it then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Longest pause that is granted where an aggregator asks for one without saying how long. */
const PAUSE_MS = 2_000;

/**
 * Asks an aggregator once. Redirects are refused, because the permission list is meant for the
 * hosts that are configured; the bodies of answers that say no are never read.
 *
 * @returns the bytes, or `undefined` for 404.
 * @throws {AggregatorFailure} for every other answer, and for none.
 */
export async function ask(
  url: string,
  { maxBytes, timeoutMs, signal, now }: AskOptions,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  using deadline = new Deadline(timeoutMs, signal);
  try {
    const response = await fetch(url, { redirect: "error", signal: deadline.signal });
    if (response.status !== 200) {
      await response.body?.cancel();
      if (response.status === 404) return undefined;
      throw statusFailure(response, now());
    }
    return await readCapped(response, maxBytes);
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof AggregatorFailure) throw cause;
    if (deadline.isLate) throw new AggregatorFailure("did not answer in time", { cause });
    throw new AggregatorFailure("cannot be reached", { cause });
  }
}

function statusFailure({ status, headers }: Response, now: number): AggregatorFailure {
  const seconds = retryAfterOf(headers, now);
  const pauseMs = seconds === undefined ? (status === 429 ? PAUSE_MS : 0) : seconds * 1000;
  return new AggregatorFailure(`answered with status ${status}`, { pauseMs });
}

async function readCapped(
  response: Response,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = () => new AggregatorFailure("answered with too many bytes");
  // Kept for long: without the room it grew in.
  return (await gather(response, maxBytes, tooLarge)).slice();
}
