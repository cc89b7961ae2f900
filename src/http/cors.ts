const METHODS = "GET, POST, PUT, DELETE, OPTIONS";
const ALLOWED = [
  "content-type",
  "authorization",
  "idempotency-key",
  "last-event-id",
  "mcp-session-id",
  "mcp-protocol-version",
  "mcp-method",
  "mcp-name",
  "x-public-key",
  "x-signature",
  "x-timestamp",
  "x-nonce",
  "x-account-id",
  "x-delegate-key",
  "x-seal-session",
  "x-request-id",
  "x-correlation-id",
  "x-svc-account-id",
  "x-svc-namespace",
  "x-memwal-account-id",
  "x-memwal-namespace",
].join(", ");
const EXPOSED = "x-request-id, ratelimit, ratelimit-policy, retry-after, idempotency-replayed, " +
  "mcp-session-id, www-authenticate";

/** Adds CORS headers for an allowed origin. */
export function addCors(headers: Headers, origin: string | null, allowed: readonly string[]): void {
  if (origin === null) return;
  headers.append("vary", "origin");
  if (!allowed.includes(origin)) return;
  headers.set("access-control-allow-origin", origin);
  headers.set("access-control-expose-headers", EXPOSED);
}

/** Answers a preflight; an origin that is not allowed gets no CORS headers. */
export function preflight(origin: string | null, allowed: readonly string[]): Response {
  const headers = new Headers();
  addCors(headers, origin, allowed);
  if (headers.has("access-control-allow-origin")) {
    headers.set("access-control-allow-methods", METHODS);
    headers.set("access-control-allow-headers", ALLOWED);
    headers.set("access-control-max-age", "600");
  }
  return new Response(null, { status: 204, headers });
}
