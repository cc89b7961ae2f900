/** The signed routes there are, by method and path (docs/protocol.md#10); `:id` is a UUID. */
export const SIGNED_ROUTE_NAMES: readonly string[] = [
  "POST /api/remember",
  "POST /api/remember/bulk",
  "POST /api/remember/bulk/status",
  "POST /api/remember/manual",
  "GET /api/remember/:id",
  "POST /api/remember/:id/retry",
  "POST /api/recall",
  "POST /api/recall/manual",
  "POST /api/embed",
  "POST /api/restore",
  "POST /api/analyze",
  "POST /api/ask",
  "GET /api/memories",
  "GET /api/memories/:id",
  "DELETE /api/memories/:id",
  "GET /api/namespaces",
  "POST /api/stats",
  "POST /api/forget",
  "GET /api/account",
  "GET /api/account/keys",
];

/** A route's name in {@linkcode SIGNED_ROUTE_NAMES}, whatever its parameter is called. */
export function signedRouteName(route: string): string | undefined {
  const name = route.replace(/:\w+/, ":id");
  return SIGNED_ROUTE_NAMES.includes(name) ? name : undefined;
}
