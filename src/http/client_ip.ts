/** An address as a number, and its width in bits. */
interface Address {
  readonly value: bigint;
  readonly bits: 32 | 128;
}

function parseIpv4(text: string): bigint | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  let value = 0n;
  for (const part of parts) {
    if (!/^\d{1,3}$/.test(part) || Number(part) > 255) return undefined;
    value = value << 8n | BigInt(part);
  }
  return value;
}

function parseIpv6(text: string): bigint | undefined {
  const halves = text.split("::");
  if (halves.length > 2 || !/^[0-9a-f:]+$/i.test(text)) return undefined;
  const groups = halves.map((half) => half === "" ? [] : half.split(":"));
  const [head = [], tail = []] = groups;
  const gap = 8 - head.length - tail.length;
  if (halves.length === 1 ? gap !== 0 : gap < 1) return undefined;
  const all = [
    ...head,
    ...Array.from({ length: halves.length === 1 ? 0 : gap }, () => "0"),
    ...tail,
  ];
  let value = 0n;
  for (const group of all) {
    if (!/^[0-9a-f]{1,4}$/i.test(group)) return undefined;
    value = value << 16n | BigInt(`0x${group}`);
  }
  return value;
}

/** An address; IPv4 mapped into IPv6 (RFC 4291 2.5.5.2) is the IPv4 address in either spelling. */
function parse(text: string): Address | undefined {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(text)?.[1] ?? text;
  const v4 = parseIpv4(mapped);
  if (v4 !== undefined) return { value: v4, bits: 32 };
  const v6 = parseIpv6(text.replace(/%.*$/, ""));
  if (v6 === undefined) return undefined;
  return v6 >> 32n === 0xffffn ? { value: v6 & 0xffffffffn, bits: 32 } : { value: v6, bits: 128 };
}

function contains(range: string, address: Address): boolean {
  const [, base = "", prefix] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(range) ?? [];
  const network = parse(base);
  if (network === undefined || network.bits !== address.bits) return false;
  const length = prefix === undefined ? network.bits : Number(prefix);
  if (length > network.bits) return false;
  const shift = BigInt(network.bits - length);
  return network.value >> shift === address.value >> shift;
}

/** Whether an address is in one of the ranges (`address` or `address/prefix length`). */
export function inRanges(address: string, ranges: readonly string[]): boolean {
  const parsed = parse(address);
  return parsed !== undefined && ranges.some((range) => contains(range, parsed));
}

/** Whether a text is an IP address. */
export function isAddress(text: string): boolean {
  return parse(text) !== undefined;
}

/** Whether an address belongs to this machine alone. */
export function isLoopback(address: string): boolean {
  return inRanges(address, ["127.0.0.0/8", "::1"]);
}

/** Names of headers by which proxies tell whom they ask for, those of common vendors too. */
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
    if (parse(hop) === undefined) return undefined;
    if (!inRanges(hop, trustedProxies)) return hop;
  }
  return peer;
}

/** Who sent a request: whom a trusted proxy names, or the socket's peer. */
export function clientIp(
  peer: string,
  forwardedFor: string | null,
  trustedProxies: readonly string[],
): string {
  return namedClient(peer, forwardedFor, trustedProxies) ?? peer;
}

/** The address a limit counts by: IPv6 addresses of one /64 are one client. */
export function limitKey(address: string): string {
  const parsed = parse(address);
  if (parsed === undefined) return address;
  return parsed.bits === 128
    ? `v6 ${(parsed.value >> 64n).toString(16)}`
    : `v4 ${parsed.value.toString(16)}`;
}
