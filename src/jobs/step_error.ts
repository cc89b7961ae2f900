import { type JobErrorCode, SvcError } from "../errors.ts";

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
