/**
 * Requests that are left in the tightest layer of a `RateLimit` header, such as
 * `"delegate_key";r=595;t=60`.
 */
export function requestsLeft(header: string | undefined): number | undefined {
  const left = [...(header ?? "").matchAll(/;\s*r=(\d+)/g)].map(([, n]) => Number(n));
  return left.length === 0 ? undefined : Math.min(...left);
}
