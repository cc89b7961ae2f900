import { SvcError } from "../../../src/errors.ts";
import type { Cipher } from "../../../src/interfaces/mod.ts";
import type { KeyStore, Sealer } from "../../../src/interfaces/plugin.ts";
import { DataKeys } from "./data_keys.ts";
import { openRecords } from "./open_records.ts";
import { sealRecord } from "./record.ts";

/**
 * Envelope encryption: each scope of an account has random data keys, wrapped by one key, and every
 * memory has its own key derived from one of them. No credential is needed.
 *
 * Wrapped keys travel with the stored records. A destroyed key therefore comes back with a record
 * that still carries it: delete such blobs too.
 *
 * @param sealer Wraps the data keys; whoever has its key opens every record.
 * @param keys Keeps the wrapped data keys.
 * @param now Clock, milliseconds since the epoch.
 */
export function envelopeCipher(
  sealer: Pick<Sealer, "seal" | "open">,
  keys: KeyStore,
  now: () => number = Date.now,
): Cipher {
  const dataKeys = new DataKeys(sealer, keys, now);
  let isClosed = false;
  const check = (signal?: AbortSignal): void => {
    signal?.throwIfAborted();
    if (isClosed) throw new SvcError("storage_unavailable", "The cipher is closed");
  };
  return {
    needsCredential: false,
    async seal(plaintext, context, options) {
      check(options?.signal);
      const { dataKey, portable } = dataKeys.current(context);
      const record = await sealRecord(plaintext, dataKey, context);
      options?.signal?.throwIfAborted();
      return { record, keyId: dataKey.keyId, wrappedKey: portable };
    },
    async open(items, context) {
      check(context.signal);
      const results = await openRecords(
        items,
        (keyId, { wrappedKey }) => dataKeys.opener(keyId, context, wrappedKey),
      );
      context.signal?.throwIfAborted();
      return results;
    },
    rotate: (accountId) =>
      Promise.try(() => {
        check();
        keys.nextGeneration(accountId);
        dataKeys.dropAccount(accountId);
      }),
    destroy: (keyId) =>
      Promise.try(() => {
        check();
        keys.delete(keyId);
        dataKeys.drop(keyId);
      }),
    [Symbol.asyncDispose]() {
      isClosed = true;
      dataKeys.clear();
      return Promise.resolve();
    },
  };
}
