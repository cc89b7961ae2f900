import { Deadline } from "../../../src/deadline.ts";
import { gather } from "../../../src/wire/body/read_body.ts";
import { retryAfterOf } from "../../shared/retry_after.ts";

/** Why an exchange gave no usable answer; of what was said, this holds the status at most. */
export class ExchangeFailure extends Error {
  override readonly name = "ExchangeFailure";
  /** Status of an answer other than 200. */
  readonly status: number | undefined;
  /** How long the other side asks to be left alone, in milliseconds. */
  readonly pauseMs: number | undefined;

  constructor(
    message: string,
    { cause, status, pauseMs }: { cause?: unknown; status?: number; pauseMs?: number } = {},
  ) {
    super(message, { cause });
    this.status = status;
    this.pauseMs = pauseMs;
  }
}

/** Bounds of an exchange. */
export interface Bounds {
  /** Most bytes of the answer. */
  readonly maxBytes: number;
  /** Longest time in milliseconds, from the first byte sent to the last one read. */
  readonly timeoutMs: number;
  /** Ends the exchange, which then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  readonly now: () => number;
}

/**
 * Makes one request and reads the answer whole. Refuses redirects, because the permission list names
 * hosts, and never reads the body of another status than 200.
 *
 * @throws {ExchangeFailure} for every other answer, and for none.
 */
export async function exchange(
  input: Parameters<typeof fetch>[0],
  init: RequestInit,
  { maxBytes, timeoutMs, signal, now }: Bounds,
): Promise<Uint8Array<ArrayBuffer>> {
  using deadline = new Deadline(timeoutMs, signal);
  try {
    const response = await fetch(input, { ...init, redirect: "error", signal: deadline.signal });
    const { status, headers } = response;
    if (status !== 200) {
      await response.body?.cancel();
      const seconds = retryAfterOf(headers, now());
      const pause = seconds === undefined ? {} : { pauseMs: seconds * 1000 };
      throw new ExchangeFailure(`answers ${status}`, { status, ...pause });
    }
    const tooLarge = () => new ExchangeFailure("answers with too many bytes");
    return await gather(response, maxBytes, tooLarge);
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof ExchangeFailure) throw cause;
    const message = deadline.isLate ? "did not answer in time" : "cannot be reached";
    throw new ExchangeFailure(message, { cause });
  }
}
