import { addressOf } from "../wire/keys.ts";
import { makeSigner } from "./signer.ts";

/** An Ed25519 key pair that may sign for an account once the account lists it. */
export interface DelegateKeyPair {
  /** Seed, 64 lower-case hex characters; a secret equal to an API key. */
  readonly privateKey: string;
  /** Public key, 64 lower-case hex characters. */
  readonly publicKey: string;
  /** Sui address of the public key, `0x` and 64 lower-case hex characters. */
  readonly address: string;
}

/**
 * Makes a delegate key from the platform's random numbers.
 *
 * @param seed 32 bytes instead of random ones, to derive the pair of a known private key.
 */
export async function makeDelegateKey(
  seed: Uint8Array = crypto.getRandomValues(new Uint8Array(32)),
): Promise<DelegateKeyPair> {
  const { publicKey } = await makeSigner(seed);
  return { privateKey: seed.toHex(), publicKey, address: addressOf(publicKey) };
}
