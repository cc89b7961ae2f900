import { isPublicKey } from "./keys.ts";
import { verifyStrict } from "./verify.ts";

/** What stands before the account id in the bytes a new key signs (PROTOCOL 14.2). */
const PREFIX = new TextEncoder().encode("svc-delegate-v1:");

/**
 * The bytes by whose signature a new key shows that somebody holds it.
 *
 * @param accountId `0x` and 64 hex characters: the account that shall list the key.
 */
export function keyProofText(accountId: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(PREFIX.length + 32);
  bytes.set(PREFIX);
  bytes.set(Uint8Array.fromHex(accountId.slice(2)), PREFIX.length);
  return bytes;
}

/**
 * Whether a proof of possession is the key's own, for this account.
 *
 * @param publicKey 64 hex characters.
 * @param proof 128 hex characters: the Ed25519 signature over {@linkcode keyProofText}.
 */
export function isHeld(
  publicKey: string,
  accountId: string,
  proof: string,
): boolean {
  if (!isPublicKey(publicKey) || !/^[0-9a-fA-F]{128}$/.test(proof)) {
    return false;
  }
  return verifyStrict(
    publicKey,
    keyProofText(accountId),
    Uint8Array.fromHex(proof),
  );
}
