import type { Credentials, DelegateKeyPair } from "../../src/client/mod.ts";
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
