import { hkdfSync } from "node:crypto";
import { identityToRecipient } from "age-encryption";
import { bech32 } from "@scure/base";
import type { RelayerKey } from "../../sealing/relayer_key.ts";

/** An X25519 identity as age writes it (https://age-encryption.org/v1), of 32 secret bytes. */
function ageIdentity(secret: Uint8Array): string {
  return bech32.encodeFromBytes("AGE-SECRET-KEY-", secret).toUpperCase();
}

/** The age identity that opens the backups of a relayer key. */
export function identityOfRelayerKey(key: RelayerKey): string {
  return ageIdentity(key.hmac("backup")("age identity"));
}

/**
 * The age identity that opens the backups of an owner.
 *
 * @param seed what the recovery words stand for.
 */
export function identityOfWords(seed: Uint8Array): string {
  return ageIdentity(new Uint8Array(hkdfSync("sha256", seed, "svc backup v1", "age identity", 32)));
}

/** The recipient that backups are encrypted to, `age1…`. */
export const recipientOf = (identity: string): Promise<string> => identityToRecipient(identity);
