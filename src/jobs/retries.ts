import { type JobErrorCode, SvcError } from "../errors.ts";
import type { Logger } from "../log.ts";

/** First and longest pause between two tries, milliseconds. */
export const BACKOFF_MS = { first: 2_000, longest: 600_000 } as const;
/** Longest pause a backend may ask for, milliseconds. */
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
  readonly code: JobErrorCode;
  readonly retryable: boolean;
  /** Whole seconds to wait at least. */
  readonly retryAfter: number | undefined;

  /** Takes over what a {@linkcode SvcError} says of itself; other errors may be retried. */
  constructor(code: JobErrorCode, cause: unknown) {
    super(code, { cause });
    const known = cause instanceof SvcError ? cause : undefined;
    this.code = code;
    this.retryable = known?.retryable ?? true;
    this.retryAfter = known?.retryAfter;
  }
}

/** Pause between two tries, milliseconds. */
const PAUSE_MS = 2_000;

/**
 * Holds jobs back while their table takes no writes, as on a full disk, so that none uses up its
 * tries. One is let through now and then, to see whether writes work again.
 */
export class TableOutage {
  readonly #tryAgain: () => void;
  readonly #logger: Logger;
  #isOn = false;
  #mayTry = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `tryAgain` is called when jobs may be started that were held back. */
  constructor(tryAgain: () => void, logger: Logger) {
    this.#tryAgain = tryAgain;
    this.#logger = logger;
  }

  /** How many jobs may run at once: all, one or none. */
  limit(concurrency: number): number {
    if (!this.#isOn) return concurrency;
    return this.#mayTry ? 1 : 0;
  }

  /** To be called when the table refused a write; `reason` is an error code. */
  refused(reason: string): void {
    // Thousands of jobs may wait: one line says it for all.
    if (!this.#isOn) this.#logger.error("jobs_held_back", { reason });
    this.#isOn = true;
    this.#mayTry = false;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.letOneTry();
      this.#tryAgain();
    }, PAUSE_MS);
  }

  letOneTry(): void {
    this.#mayTry = true;
  }

  /** To be called when the table took a write. */
  over(): void {
    if (!this.#isOn) return;
    this.#isOn = false;
    this.stop();
    this.#logger.info("jobs_go_on");
    this.#tryAgain();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
