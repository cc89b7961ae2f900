import ipaddr from "ipaddr.js";

/**
 * An address; IPv4 mapped into IPv6 (RFC 4291 2.5.5.2) is the IPv4 address in either spelling. Of
 * IPv4 only four decimal numbers count: other spellings are read in different ways by programs.
 */
function parse(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  // The library takes `::1.2.3.4`, which is obsolete and means something else, for mapped, too.
  const isV6 = ipaddr.IPv6.isValid(text) && (!text.includes(".") || /^::ffff:/i.test(text));
  return isV6 || ipaddr.IPv4.isValidFourPartDecimal(text) ? ipaddr.process(text) : undefined;
}

function contains(range: string, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  const [, base = "", prefix] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(range) ?? [];
  const network = parse(base);
  if (network === undefined || network.kind() !== address.kind()) return false;
  const bits = 8 * network.toByteArray().length;
  const length = prefix === undefined ? bits : Number(prefix);
  return length <= bits && address.match(network, length);
}

/** Whether an address is in one of the ranges (`address` or `address/prefix length`). */
export function inRanges(address: string, ranges: readonly string[]): boolean {
  const parsed = parse(address);
  return parsed !== undefined && ranges.some((range) => contains(range, parsed));
}

export function isAddress(text: string): boolean {
  return parse(text) !== undefined;
}

/** Whether an address belongs to this machine alone. */
export function isLoopback(address: string): boolean {
  return parse(address)?.range() === "loopback";
}

const PRIVATE = ["private", "uniqueLocal", "linkLocal", "carrierGradeNat"];

/** What kind of network an address is of; `undefined` for what is none. */
export function networkOf(address: string): "loopback" | "private" | "public" | undefined {
  const range = parse(address)?.range();
  if (range === undefined || range === "loopback") return range;
  return PRIVATE.includes(range) ? "private" : "public";
}

/** Of IPv6, what is given out to networks (RFC 4291 2.4): other forms may lead to an IPv4 address. */
const GLOBAL_IPV6 = "2000::/3";

/**
 * Whether an address is one of the public internet: not of this machine, of a private network or a
 * link, and of no range that is kept for something else.
 */
export function isPublicAddress(address: string): boolean {
  const parsed = parse(address);
  if (parsed?.range() !== "unicast") return false;
  return parsed.kind() === "ipv4" || inRanges(address, [GLOBAL_IPV6]);
}

/** Four decimal numbers as systems write them. */
const USUAL_IPV4 =
  /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)$/;

/** The address a limit counts by: IPv6 addresses of one /64 are one client. */
export function limitKey(address: string): string {
  // Asked at every request, nearly always for one of these.
  if (USUAL_IPV4.test(address)) return `v4 ${address}`;
  const parsed = parse(address);
  if (parsed === undefined) return address;
  return "parts" in parsed ? `v6 ${parsed.parts.slice(0, 4).join()}` : `v4 ${parsed}`;
}
