import type { BackendHealth, CallOptions, Scope } from "./common.ts";

/** What a sealed record is bound to, besides the data key's generation. */
export interface SealContext extends Scope {
  /** Account object id, `0x` and 64 lower-case hex characters. */
  readonly accountId: string;
  /** Memory id. */
  readonly memoryId: string;
}

/** A sealed record and the key that opens it. */
export interface Sealed {
  /** `version byte | key id | nonce | ciphertext`. */
  readonly record: Uint8Array;
  /** Data key that sealed it. */
  readonly keyId: string;
  /** The data key, wrapped; travels with the stored blob so that a fresh relayer can restore. */
  readonly wrappedKey: Uint8Array;
}

/** One record to open. */
export interface SealedItem {
  /** Memory id the record was sealed for. */
  readonly memoryId: string;
  /** The sealed record. */
  readonly record: Uint8Array;
  /** The wrapped data key, when the record came with it. */
  readonly wrappedKey?: Uint8Array;
}

/** What a caller sent so that a threshold key service opens keys; never logged, never stored. */
export interface DecryptCredential {
  /** Value of `x-seal-session`. */
  readonly session?: string;
  /** Value of `x-delegate-key`. */
  readonly delegateKey?: string;
}

/** Who opens records. */
export interface OpenContext extends Scope, CallOptions {
  /** Account object id. */
  readonly accountId: string;
  /** Needed where {@linkcode Cipher.needsCredential} is true. */
  readonly credential?: DecryptCredential;
}

/**
 * Seals and opens records, and keeps custody of the keys. Sealing needs no credential. A record
 * opens only with the account, namespace and memory id it was sealed for. Verify an implementation
 * with `cipherSuite` of `@svc/relayer/testing`.
 */
export interface Cipher extends AsyncDisposable {
  /** Whether `open` needs the caller's credential. */
  readonly needsCredential: boolean;
  /**
   * Seals one record; no two calls answer the same bytes. The plaintext stays as it is until the
   * promise settles.
   */
  seal(plaintext: Uint8Array, context: SealContext, options?: CallOptions): Promise<Sealed>;
  /**
   * Opens records of one scope, each for itself, in the order given. What it answers is the caller's,
   * who may write to it.
   */
  open(
    items: readonly SealedItem[],
    context: OpenContext,
  ): Promise<PromiseSettledResult<Uint8Array>[]>;
  /** Starts a new generation: later records use new data keys, old ones stay readable. */
  rotate(accountId: string): Promise<void>;
  /**
   * Drops what it keeps open for an account whose keys, owner or state changed; without an id, for
   * all accounts.
   */
  accountChanged?(accountId?: string): void;
  /** What the last calls say about the key service; absent where there is none. */
  health?(): BackendHealth;
  /** Forgets a data key for good: its records cannot be opened from this relayer's keys again. */
  destroy(keyId: string): Promise<void>;
}
