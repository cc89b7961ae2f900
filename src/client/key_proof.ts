import { keyProofText } from "../wire/signing/signing.ts";
import { makeSigner } from "./signer.ts";

/**
 * By which a new key shows that somebody holds it: its signature over the id of the account that
 * shall list it (docs/protocol.md#14.2).
 *
 * @param privateKey 64 hex characters.
 * @param accountId `0x` and 64 hex characters.
 * @returns 128 lower-case hex characters.
 */
export async function keyProof(privateKey: string, accountId: string): Promise<string> {
  const { sign } = await makeSigner(Uint8Array.fromHex(privateKey));
  return (await sign(keyProofText(accountId))).toHex();
}
