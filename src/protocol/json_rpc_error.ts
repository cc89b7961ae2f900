import { type ErrorCode, SvcError } from "../errors.ts";

/** JSON-RPC numbers of codes that have one of their own (PROTOCOL section 11). */
const NUMBERS: Partial<Record<ErrorCode, number>> = {
  malformed_json: -32700,
  already_initialized: -32600,
  session_mismatch: -32603,
  internal_error: -32603,
  account_not_authorized: -32001,
  auth_headers_missing: -32001,
  auth_header_invalid: -32001,
};

/** An error as a JSON-RPC answer; `data` repeats what other routes answer. */
export interface JsonRpcError {
  /** Always `"2.0"`. */
  readonly jsonrpc: "2.0";
  /** Transport errors belong to no request. */
  readonly id: null;
  /** Number, text for people, and stable names. */
  readonly error: {
    readonly code: number;
    readonly message: string;
    readonly data: {
      readonly code: ErrorCode;
      readonly request_id: string;
      readonly retry_after_seconds?: number;
    };
  };
}

/** The body of an error on an MCP route. */
export function jsonRpcError(error: SvcError, requestId: string): JsonRpcError {
  const { code, message, retryAfter } = error;
  return {
    jsonrpc: "2.0",
    id: null,
    error: {
      code: NUMBERS[code] ?? -32000,
      message,
      data: {
        code,
        request_id: requestId,
        ...(retryAfter === undefined ? {} : { retry_after_seconds: retryAfter }),
      },
    },
  };
}

/** The answer for anything thrown on an MCP route. */
export function jsonRpcErrorResponse(thrown: unknown, requestId: string): Response {
  const error = SvcError.from(thrown);
  const headers: Record<string, string> = { ...error.headers, "x-request-id": requestId };
  if (error.retryAfter !== undefined) headers["retry-after"] = String(error.retryAfter);
  return Response.json(jsonRpcError(error, requestId), { status: error.status, headers });
}
