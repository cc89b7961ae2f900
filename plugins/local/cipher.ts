import type { Cipher } from "../../src/interfaces/mod.ts";
import type { KeyStore, Sealer } from "../../src/interfaces/plugin.ts";
import { envelopeCipher } from "../shared/records/envelope_cipher.ts";

/** Settings of {@linkcode localCipher}. */
export interface LocalCipherOptions {
  /** Wraps the data keys; whoever has its key opens every record. */
  readonly sealer: Sealer;
  /** Keeps the wrapped data keys. */
  readonly keys: KeyStore;
  /** Clock, milliseconds since the epoch. */
  readonly now?: () => number;
}

/**
 * Envelope encryption under the relayer key, so that the relayer itself can read every memory:
 * choose a threshold cipher where it must not. A fresh relayer with the same relayer key opens
 * records without the key store's contents.
 */
export function localCipher({ sealer, keys, now }: LocalCipherOptions): Cipher {
  return envelopeCipher(sealer, keys, now);
}
