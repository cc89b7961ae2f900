import { isPublicKey } from "../keys.ts";
import { keyProofText } from "./key_proof_text.ts";
import { verifyStrict } from "./verify.ts";

export { keyProofText };

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
