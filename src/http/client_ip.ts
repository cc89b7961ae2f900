import { inRanges, isAddress } from "../wire/ip_addresses.ts";

/** Headers by which proxies name the client they ask for, those of common vendors too. */
const FORWARDING = /forwarded|-(client)?ip(v6)?$|^(via|cdn-loop|x-envoy-external-address)$/;

/** Whether a proxy says that it asks for somebody else. */
export function isForwarded(headers: Headers): boolean {
  return [...headers.keys()].some((name) => FORWARDING.test(name));
}

/** An entry of `X-Forwarded-For`: some proxies write the port behind the address. */
function addressOf(hop: string): string {
  const text = hop.trim();
  return /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
}

/**
 * Whom a trusted proxy asks for: the rightmost entry of `X-Forwarded-For` that is not itself a
 * trusted proxy, else the peer. `undefined` when nobody who may be believed says it.
 */
export function namedClient(
  peer: string,
  forwardedFor: string | null,
  trustedProxies: readonly string[],
): string | undefined {
  if (forwardedFor === null || !inRanges(peer, trustedProxies)) return undefined;
  for (const hop of forwardedFor.split(",").map(addressOf).reverse()) {
    if (!isAddress(hop)) return undefined;
    if (!inRanges(hop, trustedProxies)) return hop;
  }
  return peer;
}

/** Address of the client: the one a trusted proxy names, or the socket's peer. */
export function clientIp(
  peer: string,
  forwardedFor: string | null,
  trustedProxies: readonly string[],
): string {
  return namedClient(peer, forwardedFor, trustedProxies) ?? peer;
}
