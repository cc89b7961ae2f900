import { Buffer } from "node:buffer";
import { createPublicKey, hash, type KeyObject, verify } from "node:crypto";
import { isLowOrder, isPublicKey } from "../keys.ts";

/** DER of a SubjectPublicKeyInfo with an Ed25519 key, up to the key itself (RFC 8410). */
const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex");
const CACHED_KEYS = 10_000;

/** Keys that have verified a signature, by their hex, oldest first; shared by the whole process. */
const keys = new Map<string, KeyObject>();

/** Whether the y-coordinate is below the field's prime 2^255 - 19, as RFC 8032 5.1.3 demands. */
function isCanonical(point: Uint8Array): boolean {
  if (point[0]! < 0xed || (point[31]! & 0x7f) !== 0x7f) return true;
  return point.subarray(1, 31).some((byte) => byte !== 0xff);
}

/** `isLowOrder` on a copy: a `Buffer`'s slice shares its memory, so the check would change it. */
const hasLowOrder = (point: Uint8Array): boolean => isLowOrder(new Uint8Array(point));

/** Imports a public key; `undefined` for one under which no signature may be believed. */
function importKey(publicKeyHex: string): KeyObject | undefined {
  if (!isPublicKey(publicKeyHex)) return undefined;
  const point = Buffer.from(publicKeyHex, "hex");
  if (hasLowOrder(point) || !isCanonical(point)) return undefined;
  return createPublicKey({
    key: Buffer.concat([SPKI_PREFIX, point]),
    format: "der",
    type: "spki",
  });
}

/** Keeps a key that proved itself; strangers' keys never push out a proven one. */
function remember(publicKeyHex: string, key: KeyObject): void {
  if (keys.size >= CACHED_KEYS) {
    const oldest = keys.keys().next();
    if (!oldest.done) keys.delete(oldest.value);
  }
  keys.set(publicKeyHex, key);
}

/**
 * Whether an Ed25519 signature is valid, strictly by RFC 8032: low-order public keys and
 * commitments, non-canonical encodings and S ≥ L are refused. It never throws.
 *
 * The platform's own verifier accepts low-order keys, under which one signature fits every message;
 * hence the checks around it.
 *
 * @param publicKeyHex 64 hex characters; one spelling (lower case) makes the best use of the cache.
 * @param signature 64 bytes.
 */
export function verifyStrict(
  publicKeyHex: string,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  if (signature.length !== 64 || hasLowOrder(signature.subarray(0, 32))) return false;
  try {
    const known = keys.get(publicKeyHex);
    const key = known ?? importKey(publicKeyHex);
    if (key === undefined || !verify(null, message, key, signature)) return false;
    if (known === undefined) remember(publicKeyHex, key);
    return true;
  } catch {
    return false; // the bytes are not a point of the curve
  }
}

/** SHA-256 of a body, 64 lower-case hex characters. */
export function nativeBodySha256(bytes: Uint8Array): string {
  return hash("sha256", bytes, "hex");
}
