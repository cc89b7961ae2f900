import { blake2b } from "@noble/hashes/blake2.js";

/**
 * What a key may do: `read` memories, `write` new ones and delete, and `manage`, to correct and forget
 * memories by tools, which models call.
 */
export type Permission = "read" | "write" | "manage";

/** Every {@linkcode Permission}, as accounts and settings list them. */
export const PERMISSIONS = ["read", "write", "manage"] as const satisfies readonly Permission[];

const PUBLIC_KEY = /^[0-9a-fA-F]{64}$/;
const OBJECT_ID = /^0x[0-9a-fA-F]{64}$/;
const UUID = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/;

/** Whether text is 64 hex characters. */
export function isPublicKey(text: string): boolean {
  return PUBLIC_KEY.test(text);
}

/** Whether text is an object id or address: `0x` and 64 hex characters. */
export function isObjectId(text: string): boolean {
  return OBJECT_ID.test(text);
}

/** Whether text is 8-4-4-4-12 hex characters. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** y-coordinates of the eight low-order points and their non-canonical encodings. */
const LOW_ORDER = new Set([
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
]);

/** Whether 32 bytes encode a point of low order, canonically or not. */
export function isLowOrder(point: Uint8Array): boolean {
  // A copy also of a Buffer, whose slice shares memory.
  const y = new Uint8Array(point);
  y[31] = y[31]! & 0x7f;
  return LOW_ORDER.has(y.toHex());
}

/**
 * Sui address of a public key: BLAKE2b-256 of the flag of its scheme and the key.
 *
 * @param publicKey Hex.
 * @param flag 0 is Ed25519.
 * @returns `0x` and 64 lower-case hex characters.
 */
export function addressOf(publicKey: string, flag = 0): string {
  const bytes = new Uint8Array([flag, ...Uint8Array.fromHex(publicKey)]);
  return "0x" + blake2b(bytes, { dkLen: 32 }).toHex();
}

/** Most namespaces that a key is bound to. */
export const BOUND_NAMESPACES = 32;

/**
 * Whether a list names a namespace: as it is, or by what it begins with where the entry ends in `/`.
 */
export function isAmong(list: readonly string[], namespace: string): boolean {
  return list.some((entry) =>
    entry === namespace || entry.endsWith("/") && namespace.startsWith(entry)
  );
}

/**
 * The namespace of calls that name none, for a key that is bound to some: `default` where that is
 * among them, else the first that is named whole.
 *
 * @returns `undefined` where there is no better one than `default`.
 */
export function homeAmong(list: readonly string[] | undefined): string | undefined {
  if (list === undefined || isAmong(list, "default")) return undefined;
  return list.find((entry) => !entry.endsWith("/"));
}
