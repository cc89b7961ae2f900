import { randomBytes } from "node:crypto";
import { SvcError } from "../../../src/errors.ts";
import type { Scope } from "../../../src/interfaces/mod.ts";
import type { KeyStore, Sealer, WrappedKey } from "../../../src/interfaces/plugin.ts";
import { decodePortable, encodePortable } from "./portable.ts";
import { cannotOpen, type DataKey, RecordOpener } from "./record.ts";

/** Whose data keys: an account's, in one scope. */
interface KeyScope extends Scope {
  readonly accountId: string;
}

/** A data key and what travels with the blobs it sealed. */
interface SealingKey {
  readonly dataKey: DataKey;
  /** As `encodePortable` writes it. */
  readonly portable: Uint8Array;
}

interface Cached {
  readonly accountId: string;
  readonly dataKey: DataKey;
  readonly expiresAt: number;
  opener?: RecordOpener;
}

const CACHE_SIZE = 1000;
const CACHE_MS = 5 * 60_000;
/** Memories whose keys are kept with a data key: those that are recalled again and again. */
const MEMORY_KEYS = 128;

/** Makes, wraps and unwraps data keys. Unwrapped ones are kept for 5 minutes, 1,000 at most. */
export class DataKeys {
  readonly #sealer: Pick<Sealer, "seal" | "open">;
  readonly #keys: KeyStore;
  readonly #now: () => number;
  /** Least recently used first. */
  readonly #cache = new Map<string, Cached>();

  /** Wraps with `sealer`, keeps wrapped keys in `keys`. */
  constructor(sealer: Pick<Sealer, "seal" | "open">, keys: KeyStore, now: () => number) {
    this.#sealer = sealer;
    this.#keys = keys;
    this.#now = now;
  }

  /** The scope's newest key of the current generation; a new one, saved first, without any. */
  current(scope: KeyScope): SealingKey {
    const known = this.#keys.newest(scope.accountId, scope);
    if (known !== undefined) {
      const dataKey = this.#cached(known.keyId) ?? this.#unwrap(known);
      return { dataKey, portable: encodePortable(known) };
    }
    const bytes = randomBytes(32);
    const keyId = randomBytes(16).toString("hex");
    const generation = this.#keys.generation(scope.accountId);
    const wrapped = this.#sealer.seal(bytes, binding(scope, generation, keyId));
    const fresh = wrappedKey(scope, keyId, generation, wrapped, this.#now());
    this.#keys.put(fresh);
    return { dataKey: this.#keep(fresh, bytes), portable: encodePortable(fresh) };
  }

  /**
   * The key with this id.
   *
   * @param carried What travelled with the record; a key that is not known here is saved from it.
   * @throws {SvcError} `storage_unavailable`, not retryable, without the key or for another scope.
   */
  byId(keyId: string, scope: KeyScope, carried: Uint8Array | undefined): DataKey {
    const cached = this.#cached(keyId);
    if (cached !== undefined) return cached;
    const known = this.#keys.get(keyId);
    if (known !== undefined) {
      // The scope asked for is part of what unwrapping checks: another scope's key does not open.
      return this.#unwrap({ ...known, ...owned(scope) });
    }
    const restored = this.#fromPortable(keyId, scope, carried);
    const dataKey = this.#unwrap(restored);
    this.#keys.put(restored);
    return dataKey;
  }

  /**
   * What opens the records that the key with this id sealed in a scope; kept as long as the key.
   *
   * @throws {SvcError} as {@linkcode DataKeys.byId}.
   */
  opener(keyId: string, scope: KeyScope, carried: Uint8Array | undefined): RecordOpener {
    const dataKey = this.byId(keyId, scope, carried);
    const cached = this.#cache.get(keyId);
    // A key that is kept belongs to one scope, whoever asks for it.
    if (cached?.opener?.isFor(scope)) return cached.opener;
    const opener = new RecordOpener(dataKey, owned(scope), MEMORY_KEYS);
    if (cached !== undefined) cached.opener ??= opener;
    return opener;
  }

  dropAccount(accountId: string): void {
    for (const [keyId, cached] of this.#cache) {
      if (cached.accountId === accountId) this.drop(keyId);
    }
  }

  drop(keyId: string): void {
    const cached = this.#cache.get(keyId);
    cached?.dataKey.bytes.fill(0);
    cached?.opener?.erase();
    this.#cache.delete(keyId);
  }

  clear(): void {
    for (const keyId of [...this.#cache.keys()]) this.drop(keyId);
  }

  #cached(keyId: string): DataKey | undefined {
    const hit = this.#cache.get(keyId);
    if (hit === undefined || hit.expiresAt <= this.#now()) return undefined;
    this.#cache.delete(keyId);
    this.#cache.set(keyId, hit);
    return hit.dataKey;
  }

  #keep(key: WrappedKey, bytes: Uint8Array): DataKey {
    const now = this.#now();
    for (const [id, { expiresAt }] of this.#cache) {
      if (expiresAt <= now) this.drop(id);
    }
    if (this.#cache.size >= CACHE_SIZE) this.drop(this.#cache.keys().next().value!);
    const dataKey = { keyId: key.keyId, generation: key.generation, bytes };
    this.#cache.set(key.keyId, { accountId: key.accountId, dataKey, expiresAt: now + CACHE_MS });
    return dataKey;
  }

  #unwrap(key: WrappedKey): DataKey {
    try {
      const bytes = this.#sealer.open(key.wrapped, binding(key, key.generation, key.keyId));
      return this.#keep(key, bytes);
    } catch (cause) {
      throw cannotOpen(cause);
    }
  }

  #fromPortable(keyId: string, scope: KeyScope, carried: Uint8Array | undefined): WrappedKey {
    const found = decodePortable(carried);
    if (found?.keyId !== keyId) throw cannotOpen();
    const { generation, wrapped } = found;
    return wrappedKey(scope, keyId, generation, wrapped, this.#now());
  }
}

function wrappedKey(
  scope: KeyScope,
  keyId: string,
  generation: number,
  wrapped: Uint8Array,
  createdAt: number,
): WrappedKey {
  return { ...owned(scope), keyId, generation, wrapped, createdAt };
}

function owned({ accountId, owner, namespace }: KeyScope): KeyScope {
  return { accountId, owner, namespace };
}

function binding(scope: KeyScope, generation: number, keyId: string): string {
  const { accountId, owner, namespace } = scope;
  if (![accountId, owner, namespace].every((part) => part.isWellFormed())) {
    throw new SvcError("invalid_parameter", "A name is not valid Unicode");
  }
  return JSON.stringify(["data-key", accountId, owner, namespace, generation, keyId]);
}
