import { abortable } from "../../../src/deadline.ts";
import { SvcError } from "../../../src/errors.ts";
import type {
  BackendHealth,
  Cipher,
  OpenContext,
  SealContext,
  Sealed,
  SealedItem,
} from "../../../src/interfaces/mod.ts";
import type { KeyStore } from "../../../src/interfaces/plugin.ts";
import { openRecords } from "../../shared/records/open_records.ts";
import { cannotOpen, RecordOpener, sealRecord } from "../../shared/records/record.ts";
import { AccountStates } from "./account_states.ts";
import { KeyServerBreakers } from "./key_server_breakers.ts";
import type { KeyWork, KeyWorkOptions } from "./calls.ts";
import { OpeningKeys } from "./keys/opening_keys.ts";
import { OpenSecrets } from "./keys/open_secrets.ts";
import { Readers } from "./readers.ts";
import { type OpenKey, type SealingKey, SealingKeys } from "./keys/sealing_keys.ts";
import { setName, Unwrapping } from "./keys/unwrapping.ts";

interface SealCipherOptions {
  readonly keys: KeyStore;
  /** Disposed of with the cipher. */
  readonly work: KeyWork & Disposable;
  /** The servers and threshold of new keys. */
  readonly servers: Pick<KeyWorkOptions, "servers" | "threshold">;
  readonly now?: () => number;
}

/**
 * Envelope encryption under data keys that key servers open, a threshold of them and each by its own
 * judgement, for the owner of an account and for delegates with READ. Sealing needs public keys only.
 * Opening needs the caller's session or delegate key. An open data key serves later callers for at
 * most 5 minutes, each of them after the same check of their credential by the chain's rules.
 */
export class SealCipher implements Cipher {
  readonly needsCredential = true;
  readonly #keys: KeyStore;
  readonly #work: Disposable;
  readonly #accounts: AccountStates;
  readonly #readers: Readers;
  readonly #dataKeys: OpenSecrets<OpenKey>;
  readonly #sealing: SealingKeys;
  readonly #opening: OpeningKeys;
  readonly #breakers: KeyServerBreakers;
  /** Name of the set of servers of new keys. */
  readonly #set: string;
  #closed = false;

  constructor({ keys, work, servers, now = Date.now }: SealCipherOptions) {
    this.#keys = keys;
    this.#work = work;
    this.#accounts = new AccountStates(work, now);
    this.#readers = new Readers(work, this.#accounts, now);
    this.#dataKeys = new OpenSecrets({ now });
    this.#breakers = new KeyServerBreakers(now);
    this.#set = setName({
      threshold: servers.threshold,
      servers: servers.servers.filter(({ weight }) => weight > 0),
    });
    const wrap: KeyWork["wrap"] = (input) => this.#breakers.run(this.#set, () => work.wrap(input));
    const data = { keys, open: this.#dataKeys, now };
    this.#sealing = new SealingKeys({ wrap }, data);
    this.#opening = new OpeningKeys(data, new Unwrapping(work, this.#breakers));
  }

  /**
   * Seals one record under the account's present generation on chain.
   *
   * @throws {SvcError} `chain_unavailable`, `key_service_unavailable`; both are retryable.
   */
  async seal(...[plaintext, context, options]: Parameters<Cipher["seal"]>): Promise<Sealed> {
    const signal = options?.signal;
    const key = await this.#sealingKey(context, signal);
    const sealing = sealRecord(plaintext, key.dataKey, context);
    key.dataKey.bytes.fill(0);
    const record = await sealing;
    signal?.throwIfAborted();
    return { record, keyId: key.dataKey.keyId, wrappedKey: key.portable };
  }

  /**
   * Opens records with the caller's credential. Records whose keys cannot be had reject with
   * `key_service_unavailable`, damaged ones with `storage_unavailable`.
   *
   * @throws {SvcError} `decrypt_credential_required`, `decrypt_credential_invalid`,
   * `chain_unavailable`.
   */
  async open(
    items: readonly SealedItem[],
    context: OpenContext,
  ): Promise<PromiseSettledResult<Uint8Array>[]> {
    const { credential, signal } = context;
    this.#check(signal);
    if (credential === undefined) throw new SvcError("decrypt_credential_required");
    if (items.length === 0) return [];
    const caller = await abortable(this.#readers.authorise(credential, context), signal);
    const opening = this.#opening.of(items, context, { ...caller, credential });
    const keys = await abortable(opening, signal).catch((reason) => {
      void opening.then(erase, () => {});
      throw reason;
    });
    try {
      const results = await openRecords(items, (keyId) => {
        const found = keys.get(keyId);
        if (found === undefined) throw cannotOpen();
        if ("error" in found) throw found.error;
        return new RecordOpener(found.dataKey, context);
      });
      signal?.throwIfAborted();
      return results;
    } finally {
      erase(keys);
    }
  }

  /** Forgets the present generation; the contract on chain starts the next one. */
  async rotate(accountId: string): Promise<void> {
    await Promise.resolve();
    this.#check();
    this.accountChanged(accountId);
  }

  /** Erases what is open for an account, and what is known of it. */
  accountChanged(accountId?: string): void {
    this.#opening.changed(accountId);
    this.#accounts.drop(accountId);
    this.#sealing.dropAccount(accountId);
    this.#dataKeys.dropAccount(accountId);
  }

  health(): BackendHealth {
    return this.#breakers.health(this.#set);
  }

  /** Deletes a data key for good: its salt is nowhere else on this machine. */
  async destroy(keyId: string): Promise<void> {
    await Promise.resolve();
    this.#check();
    this.#opening.destroyed(keyId);
    this.#keys.delete(keyId);
    this.#dataKeys.drop(keyId);
  }

  /** Erases all open keys and ends the worker. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.resolve();
    this.#closed = true;
    this.accountChanged();
    this.#readers.clear();
    this.#work[Symbol.dispose]();
  }

  /** A data key of the account's generation, which must be the same once the key is there. */
  async #sealingKey(context: SealContext, signal?: AbortSignal): Promise<SealingKey> {
    for (;;) {
      this.#check(signal);
      const { generation } = await abortable(this.#accounts.get(context.accountId), signal);
      const key = await abortable(this.#sealing.current(context, generation), signal);
      if (key !== undefined) return key;
    }
  }

  #check(signal?: AbortSignal): void {
    signal?.throwIfAborted();
    if (this.#closed) throw new SvcError("storage_unavailable", "The cipher is closed");
  }
}

function erase(keys: Awaited<ReturnType<OpeningKeys["of"]>>): void {
  for (const found of keys.values()) if ("dataKey" in found) found.dataKey.bytes.fill(0);
}
