import { Buffer } from "node:buffer";
import { createPublicKey, verify } from "node:crypto";
import { blake2b } from "@noble/hashes/blake2.js";
import { personalMessageDigest } from "./personal_message.ts";
import { verifyStrict } from "./verify.ts";

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
    const flagged = new Uint8Array(1 + publicKey.length);
    flagged[0] = bytes[0] ?? 0;
    flagged.set(publicKey, 1);
    return "0x" + blake2b(flagged, { dkLen: 32 }).toHex();
  } catch {
    return undefined; // not base64, or not a point of the curve
  }
}
