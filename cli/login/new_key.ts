import type { Credentials, DelegateKeyPair } from "../../src/client/mod.ts";
import { makeSigner } from "../../src/client/signer.ts";
import type { Approval } from "./approval.ts";
import type { LoginTarget } from "./login.ts";

/**
 * The address that the user opens. It holds nothing secret: whoever reads it can neither sign nor
 * answer from the dashboard's origin.
 *
 * @param port Port of the listener.
 * @param state 64 lower-case hex characters.
 */
export function loginUrl(
  target: LoginTarget,
  pair: DelegateKeyPair,
  port: number,
  state: string,
): string {
  const query = {
    port: String(port),
    publicKey: pair.publicKey,
    delegateAddress: pair.address,
    label: target.label,
    relayer: target.relayer,
    state,
  };
  const values = Object.entries(query).map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  return `${target.webUrl}/connect/mcp?${values.join("&")}`;
}

/**
 * Proof of possession for registries that want one: the key's signature over `svc-delegate-v1:` and
 * the 32 bytes of the account id.
 *
 * @param accountId `0x` and 64 hex characters.
 * @returns 128 lower-case hex characters.
 */
export async function proofOf(pair: DelegateKeyPair, accountId: string): Promise<string> {
  const { sign } = await makeSigner(Uint8Array.fromHex(pair.privateKey));
  const prefix = new TextEncoder().encode("svc-delegate-v1:");
  const id = Uint8Array.fromHex(accountId.slice(2));
  return (await sign(new Uint8Array([...prefix, ...id]))).toHex();
}

/** What the credentials file says after an approval. */
export function credentialsOf(
  target: LoginTarget,
  pair: DelegateKeyPair,
  approval: Approval,
  createdAt: Date,
): Credentials {
  const label = approval.label ?? target.label;
  return {
    delegatePrivateKey: pair.privateKey,
    delegatePublicKeyHex: pair.publicKey,
    delegateAddress: pair.address,
    walletAddress: approval.walletAddress,
    accountId: approval.accountId,
    packageId: approval.packageId,
    relayerUrl: target.relayer,
    ...(label === "" ? {} : { label }),
    createdAt: createdAt.toISOString(),
    version: 1,
    webUrl: target.webUrl,
  };
}
