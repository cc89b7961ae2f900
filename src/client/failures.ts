import { ERROR_CODES, type ErrorCode, SvcError } from "../errors.ts";
import type { ErrorBody } from "../wire/route_types.ts";
import { HEADER } from "../wire/headers.ts";
import { connectionReason } from "./connection_reason.ts";

/** The relayer could not be reached, or the connection broke before the answer was complete. */
export class SvcConnectionError extends Error {
  /** Always `"SvcConnectionError"`. */
  override readonly name = "SvcConnectionError";
  /** Base address of the relayer. */
  readonly baseUrl: string;
  /** What ends the sentence "The relayer at … ", with the platform's code where it gives one. */
  readonly reason: string;

  /** Constructs the error; the platform's code of the cause is added to `what`. */
  constructor(baseUrl: string, what = "cannot be reached", options?: ErrorOptions) {
    const why = connectionReason(options?.cause);
    const reason = why === undefined ? what : `${what} (${why})`;
    super(`The relayer at ${baseUrl} ${reason}`, options);
    this.baseUrl = baseUrl;
    this.reason = reason;
  }
}

/** An answer that is not one of the service: another program's, or one with a code not known here. */
export class SvcAnswerError extends Error {
  /** Always `"SvcAnswerError"`. */
  override readonly name = "SvcAnswerError";
  /** HTTP status. */
  readonly status: number;
  /** The error code, when the answer has one. */
  readonly code: string | undefined;
  /** Id of the request, when the answer has one. */
  readonly requestId: string | undefined;

  /** Constructs the error. */
  constructor(message: string, status: number, code?: string, requestId?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
  }
}

const codes: ReadonlySet<string> = new Set(ERROR_CODES);
const isErrorCode = (code: string): code is ErrorCode => codes.has(code);

/** `Retry-After` in whole seconds, when it is a number of seconds. */
function retryAfterOf(headers: Headers): number | undefined {
  const raw = headers.get(HEADER.retryAfter) ?? "";
  return /^\d{1,9}$/.test(raw) ? Number(raw) : undefined;
}

/** Parses JSON; `undefined` for anything that is not an object or list. */
export function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

type Members<T> = Partial<Record<keyof ErrorBody, T>>;

/** Members of an error body that are text, and those that are numbers. */
function membersIn(text: string): readonly [Members<string>, Members<number>] {
  const members = Object.entries(parseObject(text) ?? {});
  const texts = members.filter(([, value]) => typeof value === "string");
  const numbers = members.filter(([, value]) => typeof value === "number");
  return [Object.fromEntries(texts), Object.fromEntries(numbers)];
}

/** The error an answer stands for. */
export function failureOf({ headers, status }: Response, text: string): SvcError | SvcAnswerError {
  const [texts, { offset, length }] = membersIn(text);
  const { error, code, request_id, field, layer, limit, kind } = texts;
  const requestId = headers.get(HEADER.requestId) ?? request_id;
  if (code === undefined || !isErrorCode(code)) {
    const message = error ?? `The answer (HTTP ${status}) is not one of this service`;
    return new SvcAnswerError(message, status, code, requestId);
  }
  const retryAfter = retryAfterOf(headers);
  return new SvcError(code, error, {
    // Without the header the relayer does not invite a repetition, whatever the code's default is.
    retryable: retryAfter !== undefined || code === "idempotency_in_progress",
    retryAfter,
    field,
    extra: {
      ...(requestId ? { requestId } : {}),
      ...(layer === undefined ? {} : { layer }),
      ...(limit === undefined ? {} : { limit }),
      ...(kind === undefined ? {} : { kind }),
      ...(offset === undefined ? {} : { offset }),
      ...(length === undefined ? {} : { length }),
    },
  });
}

/** One line of an export. @throws {SvcAnswerError} when it is none. */
export function exportLine(line: string): Record<string, unknown> {
  const value = parseObject(line);
  if (value === undefined) throw new SvcAnswerError("The export is not NDJSON", 200);
  return { ...value };
}
