import { Buffer } from "node:buffer";
import { createPublicKey, hash, type KeyObject, verify } from "node:crypto";
import { BoundedMap } from "../../bounded_map.ts";
import { addressOf, isLowOrder, isPublicKey } from "../keys.ts";
import { keyProofText, personalMessageDigest } from "./signing.ts";

/** DER of a SubjectPublicKeyInfo with an Ed25519 key, up to the key itself (RFC 8410). */
const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex");
const CACHED_KEYS = 10_000;

/** Keys that verified a signature, by their hex, oldest first. Of the whole process: they are facts. */
const keys = new BoundedMap<string, KeyObject>(CACHED_KEYS);

/** Whether the y-coordinate is below the field's prime 2^255 - 19, as RFC 8032 5.1.3 demands. */
function isCanonical(point: Uint8Array): boolean {
  if (point[0]! < 0xed || (point[31]! & 0x7f) !== 0x7f) return true;
  return point.subarray(1, 31).some((byte) => byte !== 0xff);
}

/** Imports a public key; `undefined` for one under which no signature may be believed. */
function importKey(publicKeyHex: string): KeyObject | undefined {
  if (!isPublicKey(publicKeyHex)) return undefined;
  const point = Buffer.from(publicKeyHex, "hex");
  if (isLowOrder(point) || !isCanonical(point)) return undefined;
  return createPublicKey({
    key: Buffer.concat([SPKI_PREFIX, point]),
    format: "der",
    type: "spki",
  });
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
  if (signature.length !== 64 || isLowOrder(signature.subarray(0, 32))) return false;
  try {
    const known = keys.get(publicKeyHex);
    const key = known ?? importKey(publicKeyHex);
    if (key === undefined || !verify(null, message, key, signature)) return false;
    // Only now: strangers' keys never push out a proven one.
    if (known === undefined) keys.set(publicKeyHex, key);
    return true;
  } catch {
    return false; // the bytes are not a point of the curve
  }
}

/** SHA-256 of a body, 64 lower-case hex characters. */
export function nativeBodySha256(bytes: Uint8Array): string {
  return hash("sha256", bytes, "hex");
}

/**
 * Whether a proof of possession is the key's own, for this account.
 *
 * @param publicKey 64 hex characters.
 * @param proof 128 hex characters: the Ed25519 signature over {@linkcode keyProofText}.
 */
export function isHeld(publicKey: string, accountId: string, proof: string): boolean {
  return /^[0-9a-fA-F]{128}$/.test(proof) &&
    verifyStrict(publicKey, keyProofText(accountId), Uint8Array.fromHex(proof));
}

/** Signature schemes of Sui by their flag byte: name, length of the public key. */
const SCHEMES: Readonly<Record<number, { name: "ed25519" | "secp256k1"; keyBytes: number }>> = {
  0: { name: "ed25519", keyBytes: 32 },
  1: { name: "secp256k1", keyBytes: 33 },
};

/** DER of a SubjectPublicKeyInfo with a compressed secp256k1 key, up to the key (RFC 5480). */
const SECP256K1_SPKI = Buffer.from("3036301006072a8648ce3d020106052b8104000a032200", "hex");
/** Half of the group's order: of the two values of S that fit a message, the lower one counts. */
const HALF_ORDER = "7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0";

/** ECDSA over the SHA-256 of the digest, as Sui wallets sign; a high S is refused. */
function verifySecp256k1(publicKey: Uint8Array, digest: Uint8Array, proof: Uint8Array): boolean {
  // Numbers of equal length compare like their hex.
  if (proof.subarray(32).toHex() > HALF_ORDER) return false;
  const key = createPublicKey({
    key: Buffer.concat([SECP256K1_SPKI, publicKey]),
    format: "der",
    type: "spki",
  });
  return verify("sha256", digest, { key, dsaEncoding: "ieee-p1363" }, proof);
}

/**
 * Who signed a personal message.
 *
 * @param signature base64 of `flag | signature (64) | public key`, as Sui wallets make it; Ed25519
 * and secp256k1.
 * @returns the signer's address, or `undefined` when the signature is not valid.
 */
export function personalMessageSigner(message: Uint8Array, signature: string): string | undefined {
  try {
    const bytes = Uint8Array.fromBase64(signature);
    const scheme = SCHEMES[bytes[0] ?? 255];
    if (scheme === undefined || bytes.length !== 65 + scheme.keyBytes) return undefined;
    const proof = bytes.subarray(1, 65);
    const publicKey = bytes.subarray(65);
    const digest = personalMessageDigest(message);
    const valid = scheme.name === "ed25519"
      ? verifyStrict(publicKey.toHex(), digest, proof)
      : verifySecp256k1(publicKey, digest, proof);
    if (!valid) return undefined;
    return addressOf(publicKey.toHex(), bytes[0]);
  } catch {
    return undefined; // not base64, or not a point of the curve
  }
}
