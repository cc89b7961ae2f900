import { type JobErrorCode, SvcError } from "../errors.ts";

/** First and longest pause between two tries, milliseconds. */
export const BACKOFF_MS = { first: 2_000, longest: 600_000 } as const;
/** A pause that a backend asked for is believed up to this long, milliseconds; no other is longer. */
export const RETRY_AFTER_MS = 3_600_000;

/**
 * Pause before the next try, milliseconds: from 2 s, doubled with every try, up to 10 min. A random
 * part spreads jobs that failed together.
 *
 * @param attempts tries so far, at least 1.
 * @param random uniform in [0, 1).
 * @param retryAfterSeconds pause asked for by a backend; at most an hour counts.
 */
export function backoff(attempts: number, random: number, retryAfterSeconds = 0): number {
  const doubled = BACKOFF_MS.first * 2 ** (attempts - 1);
  const spread = Math.min(doubled, BACKOFF_MS.longest / 1.5) * (1 + random / 2);
  return Math.max(spread, Math.min(retryAfterSeconds * 1000, RETRY_AFTER_MS));
}

/** Why a step failed, for the job's record. */
export class StepError extends Error {
  /** Job error code. */
  readonly code: JobErrorCode;
  /** Whether another try may succeed. */
  readonly retryable: boolean;
  /** Whole seconds to wait at least. */
  readonly retryAfter: number | undefined;

  /** Takes over what an error says of itself; unknown errors may be retried. */
  constructor(code: JobErrorCode, cause: unknown) {
    super(code, { cause });
    const known = cause instanceof SvcError ? cause : undefined;
    this.code = code;
    this.retryable = known?.retryable ?? true;
    this.retryAfter = known?.retryAfter;
  }
}
