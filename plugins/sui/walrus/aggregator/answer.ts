import { Deadline } from "../../../../src/deadline.ts";
import { gather } from "../../../../src/wire/body/read_body.ts";
import { retryAfterOf } from "../../../shared/retry_after.ts";

/** Why an aggregator gave no usable answer; of what it said, this holds the status at most. */
export class AggregatorFailure extends Error {
  override readonly name = "AggregatorFailure";
  /** How long it asks to be left alone, in milliseconds. */
  readonly pauseMs: number;

  constructor(message: string, { pauseMs = 0, cause }: { pauseMs?: number; cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.pauseMs = pauseMs;
  }
}

/** Bounds of one request. */
interface AskOptions {
  /** Most bytes of the answer. */
  readonly maxBytes: number;
  /** Longest time in milliseconds, from the first byte sent to the last one read. */
  readonly timeoutMs: number;
  /** Ends the request, which then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  readonly now: () => number;
}

/** Pause of an aggregator that asks for one (429) without saying how long, in milliseconds. */
const PAUSE_MS = 2_000;

/**
 * Asks an aggregator once. Refuses redirects, because the permission list names hosts, and never
 * reads the body of another status than 200.
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
    const tooLarge = () => new AggregatorFailure("answered with too many bytes");
    // A copy without the spare room in which the bytes were gathered, because it is kept for long.
    return (await gather(response, maxBytes, tooLarge)).slice();
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
