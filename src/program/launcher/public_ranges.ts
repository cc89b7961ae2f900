/** Ranges of IPv4 that belong to no host of the public internet (RFC 6890). */
const NOT_PUBLIC: readonly (readonly [address: number, bits: number])[] = [
  [0x00000000, 8],
  [0x0a000000, 8],
  [0x64400000, 10],
  [0x7f000000, 8],
  [0xa9fe0000, 16],
  [0xac100000, 12],
  [0xc0000000, 24],
  [0xc0000200, 24],
  [0xc0586300, 24],
  [0xc0a80000, 16],
  [0xc6120000, 15],
  [0xc6336400, 24],
  [0xcb007100, 24],
  [0xe0000000, 3],
];

/** The address without its last bits. */
const network = (address: number, bits: number) => Math.floor(address / 2 ** (32 - bits));

function within(address: number, bits: number, range: readonly [number, number]): boolean {
  return bits >= range[1] && network(address, range[1]) === network(range[0], range[1]);
}

function split(address: number, bits: number): string[] {
  if (NOT_PUBLIC.some((range) => within(address, bits, range))) return [];
  if (!NOT_PUBLIC.some((range) => within(range[0], range[1], [address, bits]))) {
    const bytes = [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256);
    return [`${bytes.join(".")}/${bits}`];
  }
  return [...split(address, bits + 1), ...split(address + 2 ** (31 - bits), bits + 1)];
}

/**
 * Every address of the public internet of IPv4, as ranges. Deno's permission list knows none of IPv6,
 * and what it forbids it lets through in the mapped form: only a list of what is allowed holds.
 */
export function publicRanges(): string[] {
  return split(0, 0);
}

/** Servers that names are asked of, as `resolv.conf` lists them. */
export function nameServersIn(resolvConf: string): string[] {
  return [...resolvConf.matchAll(/^nameserver[ \t]+([\da-f:.]+)[ \t]*$/gim)].map(([, ip]) => ip!);
}
