import { keyProofText } from "../../../src/wire/signing/signing.ts";
import { sign } from "../wallet/ed25519.ts";

/** By which a new key shows that it is held: 128 hex characters (docs/protocol.md#14.2). */
export async function keyProof(privateKey: CryptoKey, accountId: string): Promise<string> {
  return (await sign(privateKey, keyProofText(accountId))).toHex();
}
