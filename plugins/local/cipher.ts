import { SvcError } from "../../src/errors.ts";
import type { Cipher, OpenContext, Sealed, SealedItem } from "../../src/interfaces/mod.ts";
import type { KeyStore, Sealer } from "../../src/interfaces/plugin.ts";
import { DataKeys } from "./data_keys.ts";
import { openRecords } from "../shared/records/open_records.ts";
import { sealRecord } from "../shared/records/record.ts";

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
 * Envelope encryption under the relayer key: each scope of an account has random data keys, wrapped
 * by the relayer key, and every memory has its own key derived from one of them. No credential is
 * needed, so the relayer itself can read every memory: choose a threshold cipher where it must not.
 *
 * Wrapped keys travel with the stored records, so that a fresh relayer with the same relayer key
 * opens them without the key store's contents. A destroyed key therefore comes back with a record
 * that still carries it: delete such blobs too.
 */
export function localCipher({ sealer, keys, now = Date.now }: LocalCipherOptions): Cipher {
  return new LocalCipher(keys, new DataKeys(sealer, keys, now));
}

class LocalCipher implements Cipher {
  readonly needsCredential = false;
  readonly #keys: KeyStore;
  readonly #dataKeys: DataKeys;
  #closed = false;

  constructor(keys: KeyStore, dataKeys: DataKeys) {
    this.#keys = keys;
    this.#dataKeys = dataKeys;
  }

  async seal(...[plaintext, context, options]: Parameters<Cipher["seal"]>): Promise<Sealed> {
    this.#check(options?.signal);
    const { dataKey, portable } = this.#dataKeys.current(context);
    const record = await sealRecord(plaintext, dataKey, context);
    options?.signal?.throwIfAborted();
    return { record, keyId: dataKey.keyId, wrappedKey: portable };
  }

  async open(
    items: readonly SealedItem[],
    context: OpenContext,
  ): Promise<PromiseSettledResult<Uint8Array>[]> {
    this.#check(context.signal);
    const results = await openRecords(
      items,
      (keyId, { wrappedKey }) => this.#dataKeys.opener(keyId, context, wrappedKey),
    );
    context.signal?.throwIfAborted();
    return results;
  }

  async rotate(accountId: string): Promise<void> {
    await Promise.resolve();
    this.#check();
    this.#keys.nextGeneration(accountId);
    this.#dataKeys.dropAccount(accountId);
  }

  async destroy(keyId: string): Promise<void> {
    await Promise.resolve();
    this.#check();
    this.#keys.delete(keyId);
    this.#dataKeys.drop(keyId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.resolve();
    this.#closed = true;
    this.#dataKeys.clear();
  }

  #check(signal?: AbortSignal): void {
    signal?.throwIfAborted();
    if (this.#closed) throw new SvcError("storage_unavailable", "The cipher is closed");
  }
}
