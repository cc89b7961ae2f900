import { type ErrorCode, SvcError } from "../../src/errors.ts";

/** What kind of call failed; the code of the errors callers get. */
export type ModelErrorCode = "embedding_unavailable" | "llm_unavailable";

/** Statuses that judge the input of a call and not the server. */
const REFUSED_INPUT = [400, 413, 422];
/** Statuses that stay as they are until the operator changes something. */
const CONFIGURATION = [401, 403, 404, 405];

/** Why a call of an outside server failed; holds nothing the server said but its status. */
export class UpstreamFailure extends Error {
  override readonly name = "UpstreamFailure";
  /** HTTP status, when there was an answer that says no. */
  readonly status: number | undefined;
  /** Whole seconds the server asks to be left alone. */
  readonly retryAfter: number | undefined;
  /** Whether there was no answer in time. */
  readonly late: boolean;

  /** The message must be safe for callers. */
  constructor(
    message: string,
    about: { status?: number; retryAfter?: number | undefined; late?: boolean } = {},
  ) {
    super(message);
    this.late = about.late ?? false;
    this.status = about.status;
    this.retryAfter = about.retryAfter;
  }

  /** Whether the input was refused: another input may be fine. */
  get refusesInput(): boolean {
    return this.status !== undefined && REFUSED_INPUT.includes(this.status);
  }

  /** Whether the operator must change something: the key, the model or the address. */
  get isConfiguration(): boolean {
    return this.status !== undefined && CONFIGURATION.includes(this.status);
  }
}

/** What an answer that says no means. */
export function statusFailure(status: number, retryAfter: number | undefined): UpstreamFailure {
  return new UpstreamFailure(statusText(status), { status, retryAfter });
}

function statusText(status: number): string {
  if (status === 429) return "The model server asks for a pause";
  if (status === 401 || status === 403) return "The model server refuses the API key";
  if (status === 404) return "The model server does not know the model or the address";
  return `The model server answered with status ${status}`;
}

/** The failure behind anything thrown; the clients wrap what their `fetch` throws. */
export function failureOf(thrown: unknown): UpstreamFailure {
  let error = thrown;
  while (error instanceof Error) {
    if (error instanceof UpstreamFailure) return error;
    error = error.cause;
  }
  return new UpstreamFailure("The model server's answer cannot be used");
}

/** The failure as callers get it: retryable, with the pause that was asked for. */
export function unavailable(code: ErrorCode, failure: UpstreamFailure): SvcError {
  return new SvcError(code, failure.message, {
    cause: failure,
    ...(failure.retryAfter === undefined ? {} : { retryAfter: failure.retryAfter }),
  });
}

/** The upstream failure an error of ours was made from. */
export function upstreamFailureOf(error: unknown): UpstreamFailure | undefined {
  return error instanceof SvcError && error.cause instanceof UpstreamFailure
    ? error.cause
    : undefined;
}
