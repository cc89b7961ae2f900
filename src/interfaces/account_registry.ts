import type { Permission } from "../wire/keys.ts";
import type { BackendHealth, CallOptions } from "./common.ts";

export { isAmong, type Permission } from "../wire/keys.ts";

/** A key that signs requests for an account. */
export interface DelegateKey {
  /** Ed25519 public key, 64 lower-case hex characters. */
  readonly publicKey: string;
  /** BLAKE2b-256 of `00` and the public key, `0x` and 64 lower-case hex characters. */
  readonly address: string;
  /** Name for people, at most 64 bytes. */
  readonly label: string;
  /** What it may do. */
  readonly permissions: readonly Permission[];
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Milliseconds since the epoch; absent when it never expires. */
  readonly expiresAt?: number;
  /** Namespaces that there are for it, each as it is or as a beginning that ends in `/`; else all. */
  readonly namespaces?: readonly string[];
}

/** An account: one owner and the keys that act for them. */
export interface Account {
  /** Object id, `0x` and 64 lower-case hex characters. */
  readonly accountId: string;
  /** Address of the owner, `0x` and 64 lower-case hex characters. */
  readonly owner: string;
  /** Deactivated accounts authorise nobody. */
  readonly active: boolean;
  /** Keys that act for the owner. */
  readonly keys: readonly DelegateKey[];
}

/** A key to add to an account. */
export interface NewKey {
  /** Ed25519 public key, 64 hex characters. */
  readonly publicKey: string;
  /** Name for people, at most 64 bytes of UTF-8. */
  readonly label: string;
  /** What it may do, at least one. */
  readonly permissions: readonly Permission[];
  /** Milliseconds since the epoch, in the future. */
  readonly expiresAt?: number;
  /**
   * Namespaces that it is bound to, 1 to 32: each as it is, or a beginning that ends in `/`. A
   * registry that cannot keep them refuses the key.
   */
  readonly namespaces?: readonly string[];
  /**
   * 128 hex characters: the key's signature over `svc-delegate-v1:` and the 32 bytes of the account
   * id (docs/protocol.md#14.2). Needed where accounts are on chain.
   */
  readonly proof?: string;
}

/** Changes accounts where the relayer itself is the registry. */
export interface AccountAdmin {
  /**
   * Creates the account of an owner.
   * @throws {SvcError} `account_exists` when the owner has one.
   */
  create(owner: string): Promise<Account>;
  /** Every account. */
  list(): Promise<Account[]>;
  /** The owner's account. */
  ofOwner(owner: string): Promise<Account | undefined>;
  /**
   * Adds a key. In a full account, keys that have ended make room.
   * @throws {SvcError} `key_exists` when an account lists it, `not_found` without the account,
   * `invalid_parameter` when the key or its label breaks a rule (also a small-order key), or there
   * is no room.
   */
  addKey(accountId: string, key: NewKey): Promise<Account>;
  /**
   * Removes a key.
   * @throws {SvcError} `not_found` when the account does not exist or does not list it.
   */
  removeKey(accountId: string, publicKey: string): Promise<Account>;
  /**
   * Activates or deactivates.
   * @throws {SvcError} `not_found` without the account.
   */
  setActive(accountId: string, active: boolean): Promise<Account>;
  /**
   * Takes an account over from another registry of this kind, keys and times as they are, in the place
   * of what is known of it here. Absent where a registry cannot.
   * @throws {SvcError} `key_exists` when another account lists one of its keys.
   */
  adopt?(account: Account): Promise<void>;
}

/** Tells that cached answers may be stale; without an id: all of them. */
export type AccountListener = (accountId?: string) => void;

/**
 * Public key to account. It answers what is registered; whether the account is active and the key
 * unexpired is judged by the core. Verify an implementation with `accountRegistrySuite`.
 */
export interface AccountRegistry extends AsyncDisposable {
  /** The account that lists the key (64 lower-case hex characters). */
  resolve(publicKey: string, options?: CallOptions): Promise<Account | undefined>;
  /** The account with this id (`0x` and 64 lower-case hex characters). */
  get(accountId: string, options?: CallOptions): Promise<Account | undefined>;
  /** Calls back when accounts changed, also by another process; dispose to stop. */
  watch?(listener: AccountListener): Disposable;
  /** What the last calls say about the chain; absent where there is none. */
  health?(): BackendHealth;
  /** Present where accounts are managed here and not on a chain. */
  readonly admin?: AccountAdmin;
}
