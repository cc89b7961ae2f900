import { type ErrorCode, SvcError } from "../errors.ts";
import { HEADER } from "./headers.ts";

/** JSON-RPC numbers of codes that have one of their own (docs/protocol.md#11). */
const NUMBERS: Partial<Record<ErrorCode, number>> = {
  malformed_json: -32700,
  already_initialized: -32600,
  invalid_request: -32600,
  session_mismatch: -32603,
  internal_error: -32603,
  account_not_authorized: -32001,
  audience_mismatch: -32001,
  token_expired: -32001,
  token_revoked: -32001,
  auth_headers_missing: -32001,
  auth_header_invalid: -32001,
};

/**
 * The answer for anything thrown on an MCP route: a JSON-RPC error that belongs to no request. Its
 * `data` repeats what other routes answer.
 */
export function jsonRpcErrorResponse(thrown: unknown, requestId: string): Response {
  const refused = SvcError.from(thrown);
  const { code, message, extra, retryAfter } = refused;
  const data = {
    code,
    request_id: requestId,
    retry_after_seconds: retryAfter,
    // Which limit was met.
    cap: extra?.cap,
    layer: extra?.layer,
  };
  const error = { code: NUMBERS[code] ?? -32000, message, data };
  // A message of the wrong shape is a bad request here, as it is in JSON-RPC.
  const status = code === "invalid_request" ? 400 : refused.status;
  const headers: Record<string, string> = { ...refused.headers, [HEADER.requestId]: requestId };
  if (retryAfter !== undefined) headers[HEADER.retryAfter] = String(retryAfter);
  if (status === 401) headers["www-authenticate"] ??= 'Bearer realm="svc", error="invalid_token"';
  return Response.json({ jsonrpc: "2.0", id: null, error }, { status, headers });
}
