/** What HTTP and jobs make of an error code. */
interface ErrorKind {
  readonly status: number;
  readonly message: string;
  /** Whether the same call may succeed later; so it may where it says when. */
  readonly retryable?: true;
  /** Default of `Retry-After` in seconds. */
  readonly retryAfter?: number;
}

/**
 * HTTP status and default text of every code; {@linkcode ErrorCode} is read off it.
 *
 * @internal
 */
export const ERROR_KINDS = {
  malformed_json: { status: 400, message: "The body is not JSON" },
  unsigned_query: { status: 400, message: "A query string needs the 6-field signature" },
  empty_text: { status: 400, message: "text must not be empty" },
  empty_query: { status: 400, message: "query must not be empty" },
  empty_question: { status: 400, message: "question must not be empty" },
  empty_items: { status: 400, message: "items must not be empty" },
  empty_job_ids: { status: 400, message: "job_ids must not be empty" },
  empty_namespace: { status: 400, message: "namespace must not be empty" },
  text_too_long: { status: 400, message: "text is too long" },
  query_too_long: { status: 400, message: "query is too long" },
  too_many_items: { status: 400, message: "Too many items" },
  too_many_job_ids: { status: 400, message: "Too many job ids" },
  invalid_namespace: {
    status: 400,
    message: "namespace must have 1 to 256 bytes of UTF-8 without control characters",
  },
  invalid_metadata: { status: 400, message: "metadata must be a flat object of at most 4 KiB" },
  invalid_scoring_weights: { status: 400, message: "scoring_weights are out of range" },
  invalid_cursor: { status: 400, message: "cursor is unknown" },
  invalid_idempotency_key: {
    status: 400,
    message: "idempotency-key must have 1 to 128 visible ASCII characters",
  },
  invalid_parameter: { status: 400, message: "A value is out of range" },
  invalid_encrypted_data: { status: 400, message: "encrypted_data must be non-empty base64" },
  secret_found: { status: 400, message: "The text holds a secret" },
  invalid_vector: { status: 400, message: "vector must be non-empty and finite" },
  dimension_mismatch: { status: 400, message: "vector has the wrong length" },
  decrypt_credential_required: { status: 400, message: "A decrypt credential is needed" },
  decrypt_credential_invalid: { status: 400, message: "The decrypt credential is not usable" },
  invalid_sender: { status: 400, message: "sender is not an address" },
  invalid_transaction: { status: 400, message: "The transaction is not valid" },
  invalid_digest: { status: 400, message: "digest is not valid" },
  invalid_sponsor_signature: { status: 400, message: "signature is not valid" },
  sponsor_rejected: { status: 400, message: "The sponsor refused the transaction" },
  session_required: { status: 400, message: "A session is needed" },
  already_initialized: { status: 400, message: "The session is initialized already" },
  unsupported_protocol_version: { status: 400, message: "The protocol version is not supported" },
  owner_proof_invalid: { status: 401, message: "The owner's proof is not valid" },
  auth_headers_missing: { status: 401, message: "Signature headers are missing" },
  auth_header_invalid: { status: 401, message: "A signature header is malformed" },
  nonce_invalid: { status: 401, message: "x-nonce is not a UUID" },
  timestamp_out_of_range: {
    status: 401,
    message: "x-timestamp is outside the accepted window: check the clock, then sign again",
  },
  signature_invalid: { status: 401, message: "The signature is not valid" },
  nonce_reused: { status: 401, message: "x-nonce was used before" },
  audience_mismatch: { status: 401, message: "The request was signed for another relayer" },
  token_expired: { status: 401, message: "The token has ended" },
  token_revoked: { status: 401, message: "The token's key is not authorized any more" },
  account_not_authorized: { status: 401, message: "The key is not authorized" },
  quota_exceeded: { status: 402, message: "The storage quota is used up" },
  permission_denied: { status: 403, message: "The key lacks the permission" },
  key_over_plain_http: {
    status: 403,
    message: "A private key is not taken from another machine over plain HTTP",
  },
  move_call_not_allowed: { status: 403, message: "The transaction is not on the allow-list" },
  metrics_forbidden: { status: 403, message: "Metrics are for this machine only" },
  origin_not_allowed: { status: 403, message: "The origin is not allowed" },
  host_not_allowed: { status: 403, message: "The host is not allowed" },
  registration_closed: { status: 403, message: "Accounts cannot be created from here" },
  session_mismatch: { status: 403, message: "The session belongs to other credentials" },
  not_found: { status: 404, message: "Not found" },
  job_not_found: { status: 404, message: "There is no such job" },
  memory_not_found: { status: 404, message: "There is no such memory" },
  blob_not_found: { status: 404, message: "There is no such blob" },
  sponsorship_not_found: { status: 404, message: "There is no such sponsorship" },
  session_not_found: { status: 404, message: "There is no such session" },
  method_not_allowed: { status: 405, message: "The method is not allowed here" },
  not_acceptable: { status: 406, message: "The answer's type is not acceptable" },
  request_timeout: { status: 408, message: "The body did not arrive in time" },
  idempotency_conflict: {
    status: 409,
    message: "The idempotency key was used with another body",
  },
  idempotency_in_progress: {
    status: 409,
    message: "The first request is still being processed",
    retryable: true,
  },
  job_not_retryable: { status: 409, message: "The job cannot be retried" },
  version_conflict: { status: 409, message: "The memory has another version" },
  account_exists: { status: 409, message: "The owner has an account" },
  key_exists: { status: 409, message: "An account lists the key" },
  body_too_large: { status: 413, message: "The body is too large" },
  unsupported_media_type: { status: 415, message: "The body must be uncompressed JSON" },
  invalid_request: { status: 422, message: "The body has the wrong shape" },
  upgrade_required: { status: 426, message: "This relayer needs a newer form of signature" },
  rate_limited: { status: 429, message: "Rate limit exceeded", retryable: true },
  session_limit: { status: 429, message: "Too many sessions", retryable: true },
  headers_too_large: { status: 431, message: "The headers are too large" },
  internal_error: { status: 500, message: "Something went wrong on our side" },
  sidecar_unavailable: { status: 502, message: "The sidecar cannot be reached", retryable: true },
  sponsor_upstream_error: { status: 502, message: "The sponsor cannot be reached" },
  chain_unavailable: { status: 503, message: "The chain cannot be reached", retryAfter: 5 },
  storage_unavailable: { status: 503, message: "Storage is not available", retryAfter: 5 },
  embedding_unavailable: { status: 503, message: "The embedder is not available", retryAfter: 5 },
  llm_unavailable: { status: 503, message: "The language model is not available", retryAfter: 5 },
  key_service_unavailable: {
    status: 503,
    message: "The key service is not available",
    retryAfter: 5,
  },
  llm_disabled: { status: 503, message: "No language model is configured" },
  sponsor_disabled: { status: 503, message: "No sponsor is configured" },
  sponsor_overloaded: { status: 503, message: "The sponsor is overloaded", retryAfter: 30 },
  sponsor_budget_exhausted: {
    status: 503,
    message: "The sponsor's budget is used up",
    retryAfter: 3600,
  },
  limiter_unavailable: { status: 503, message: "The rate limiter is not available", retryAfter: 5 },
  overloaded: { status: 503, message: "The relayer is overloaded", retryAfter: 1 },
  shutting_down: { status: 503, message: "The relayer is shutting down", retryAfter: 1 },
} as const satisfies Readonly<Record<string, ErrorKind>>;

/** Stable machine-readable name of an error (docs/protocol.md#5). */
export type ErrorCode = keyof typeof ERROR_KINDS;

/** Every code. */
export const ERROR_CODES: readonly ErrorCode[] = Object.keys(ERROR_KINDS) as ErrorCode[];

/** Why a job failed or was put off (docs/protocol.md#5-20). */
export type JobErrorCode =
  | "embedding_failed"
  | "encryption_failed"
  | "storage_failed"
  | "quota_exceeded"
  | "deleted"
  | "internal_error";

/** Options of {@linkcode SvcError}. */
export interface SvcErrorOptions extends ErrorOptions {
  /** Whether the same call may succeed later; the code's default when absent. */
  readonly retryable?: boolean;
  /** Whole seconds to wait before retrying. */
  readonly retryAfter?: number | undefined;
  /** Path of the member at fault, such as `items[3].text`. */
  readonly field?: string | undefined;
  /** Further members of the error body, such as `layer` and `limit`. */
  readonly extra?: Readonly<Record<string, string | number>> | undefined;
  /** Headers of the error answer, such as `allow`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * The only error that crosses a boundary of this project. Its `message` is safe for callers by
 * contract; everything private belongs in `cause`, which is only logged.
 *
 * @example Usage
 * ```ts
 * import { SvcError } from "./errors.ts";
 *
 * const error = new SvcError("job_not_found");
 * if (error.status !== 404) throw new Error("unexpected");
 * ```
 */
export class SvcError extends Error {
  /** Always `"SvcError"`. */
  override readonly name = "SvcError";
  /** Stable machine-readable name. */
  readonly code: ErrorCode;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** Whole seconds to wait before retrying, when known. */
  readonly retryAfter: number | undefined;
  /** Path of the member at fault. */
  readonly field: string | undefined;
  /** Further members of the error body. */
  readonly extra: Readonly<Record<string, string | number>> | undefined;
  /** Headers of the error answer. */
  readonly headers: Readonly<Record<string, string>> | undefined;

  /** Constructs an error; without a message the code's default text is used. */
  constructor(code: ErrorCode, message?: string, options: SvcErrorOptions = {}) {
    const kind: ErrorKind = ERROR_KINDS[code];
    super(message ?? kind.message, "cause" in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.retryable = options.retryable ?? kind.retryable ?? kind.retryAfter !== undefined;
    this.retryAfter = options.retryAfter ?? kind.retryAfter;
    this.field = options.field;
    this.extra = options.extra;
    this.headers = options.headers;
  }

  /** HTTP status of the code. */
  get status(): number {
    return ERROR_KINDS[this.code].status;
  }

  /** The same error, whose answer has these headers as well. */
  withHeaders(headers: Readonly<Record<string, string>>): SvcError {
    const { code, message, cause, retryable, retryAfter, field, extra } = this;
    const options = { retryable, retryAfter, field, extra };
    return new SvcError(code, message, {
      ...options,
      ...(cause === undefined ? {} : { cause }),
      headers: { ...this.headers, ...headers },
    });
  }

  /** Anything thrown, as a {@linkcode SvcError}; unknown errors become `internal_error`. */
  static from(thrown: unknown): SvcError {
    if (thrown instanceof SvcError) return thrown;
    return new SvcError("internal_error", undefined, { cause: thrown });
  }
}

/** An error answer's body and headers (docs/protocol.md#5). */
export function errorBody(error: SvcError, requestId: string): Record<string, unknown> {
  return {
    error: error.message,
    code: error.code,
    request_id: requestId,
    ...(error.field === undefined ? {} : { field: error.field }),
    ...(error.retryAfter === undefined ? {} : { retry_after_seconds: error.retryAfter }),
    ...error.extra,
  };
}

/** The HTTP answer for anything thrown; unknown errors say nothing about themselves. */
export function errorResponse(thrown: unknown, requestId: string): Response {
  const error = SvcError.from(thrown);
  const headers: Record<string, string> = { ...error.headers, "x-request-id": requestId };
  if (error.retryAfter !== undefined) headers["retry-after"] = String(error.retryAfter);
  return Response.json(errorBody(error, requestId), { status: error.status, headers });
}
