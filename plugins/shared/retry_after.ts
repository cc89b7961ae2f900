/** Longest pause a server may ask for, in seconds. */
const MAX_RETRY_AFTER = 3600;

/**
 * Seconds of a `Retry-After` header (RFC 9110, 10.2.3), at most an hour; `undefined` without one.
 *
 * @param now Milliseconds since the epoch.
 */
export function retryAfterOf(headers: Headers, now: number): number | undefined {
  const raw = headers.get("retry-after")?.trim();
  if (raw === undefined || raw === "") return undefined;
  const seconds = /^\d+$/.test(raw) ? Number(raw) : Math.ceil((Date.parse(raw) - now) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 0), MAX_RETRY_AFTER);
}
