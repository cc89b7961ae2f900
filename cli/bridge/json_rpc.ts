export type RequestId = string | number;

/** Members of an object whose shape is not known. */
export type Members = Readonly<Record<string, unknown>>;

export interface RpcNotification {
  readonly jsonrpc: "2.0";
  readonly method: string;
  readonly params?: Members;
}

export interface RpcRequest extends RpcNotification {
  readonly id: RequestId;
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export interface RpcResponse {
  readonly jsonrpc: "2.0";
  readonly id: RequestId | null;
  readonly result?: Members;
  readonly error?: RpcError;
}

export type RpcMessage = RpcRequest | RpcNotification | RpcResponse;

/** Numbers of JSON-RPC and MCP errors. */
export const RPC = {
  /** Not JSON. */
  parse: -32700,
  /** Not a message. */
  invalidRequest: -32600,
  /** Nobody serves this method. */
  methodNotFound: -32601,
  /** Parameters that break their rule. */
  invalidParams: -32602,
  /** The relayer does not answer, or refuses. */
  server: -32000,
  /** The key is missing or rejected. */
  unauthorized: -32001,
  /** The revision is not served (2026-07-28 and later). */
  unsupportedRevision: -32022,
} as const;

/** Whether a value is an object and no array. */
export function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export const isId = (value: unknown): value is RequestId =>
  typeof value === "string" || typeof value === "number";

export function isRequest(value: unknown): value is RpcRequest {
  return isMembers(value) && typeof value.method === "string" && isId(value.id);
}

export function isNotification(value: unknown): value is RpcNotification {
  return isMembers(value) && typeof value.method === "string" && !("id" in value);
}

export function isResponse(value: unknown): value is RpcResponse {
  return isMembers(value) && !("method" in value) && ("result" in value || "error" in value);
}

/** A request or notification without what is not there. */
export function notification(method: string, params?: Members): RpcNotification {
  return { jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }) };
}

export function resultOf(id: RequestId, result: Members): RpcResponse {
  return { jsonrpc: "2.0", id, result };
}

export function errorOf(
  id: RequestId | null,
  code: number,
  message: string,
  data?: unknown,
): RpcResponse {
  return { jsonrpc: "2.0", id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

/** `params._meta`, or nothing. */
export function metaOf(params: Members | undefined): Members {
  return isMembers(params?._meta) ? params._meta : {};
}
