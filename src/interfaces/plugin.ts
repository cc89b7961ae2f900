import type { Backends, Role, Scope } from "./mod.ts";
import type { Fields, Values } from "./fields.ts";

export * from "./fields.ts";

/**
 * Authenticated encryption (AES-256-GCM) under a key derived from the relayer key for one purpose.
 * Sealed bytes are `version byte | nonce (12) | ciphertext and tag`, 29 bytes longer than the plain
 * ones.
 */
export interface Sealer {
  /** Seals bytes, bound to the additional data. */
  seal(bytes: Uint8Array, additionalData: string): Uint8Array;
  /** As `seal`, on the thread pool: better above 64 KiB. The bytes must not change meanwhile. */
  sealLarge(bytes: Uint8Array, additionalData: string): Promise<Uint8Array>;
  /**
   * Opens sealed bytes.
   * @throws {SvcError} `storage_unavailable`, not retryable, when they were altered, belong to
   * other additional data or to another relayer key.
   */
  open(bytes: Uint8Array, additionalData: string): Uint8Array;
  /** As `open`, on the thread pool: better above 64 KiB. */
  openLarge(bytes: Uint8Array, additionalData: string): Promise<Uint8Array>;
}

/** A data key, wrapped; what a cipher needs to open its records again. */
export interface WrappedKey extends Scope {
  /** 32 lower-case hex characters, named in every record the key sealed. */
  readonly keyId: string;
  /** Account object id. */
  readonly accountId: string;
  /** Generation of the account's keys, from 1. */
  readonly generation: number;
  /** The data key, wrapped. */
  readonly wrapped: Uint8Array;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** Durable store of wrapped keys; synchronous, and durable when a call returns. */
export interface KeyStore {
  /** Adds a key; one that exists is left as it is. */
  put(key: WrappedKey): void;
  /** A key by id. */
  get(keyId: string): WrappedKey | undefined;
  /** The newest key of a scope in the account's current generation. */
  newest(accountId: string, scope: Scope): WrappedKey | undefined;
  /** Current generation of an account, from 1. */
  generation(accountId: string): number;
  /** Starts the next generation of an account and answers it. */
  nextGeneration(accountId: string): number;
  /** Removes a key. */
  delete(keyId: string): void;
}

/** What a plugin may know of its surroundings. */
export interface PluginContext {
  /** Folder for files of this relayer; exists, 0700. */
  readonly dataDir: string;
  /** Length of the embedder's vectors; 0 while it is not open, as always in `createRelayer`. */
  readonly dimensions: number;
  /** Name of the embedder's model; empty while it is not open, as always in `createRelayer`. */
  readonly model: string;
  /** Encryption under the relayer key; equal purposes give equal keys. */
  sealer(purpose: string): Sealer;
  /** Wrapped data keys. */
  readonly keys: KeyStore;
  /** Notes for the operator's log; never texts, keys or vectors. */
  log(level: "debug" | "info" | "warn" | "error", message: string): void;
}

/** Entries of Deno's permission list; anything not named is denied. */
export interface Permissions {
  /** `host` or `host:port`. */
  readonly net?: readonly string[];
  /** Files and folders. */
  readonly read?: readonly string[];
  /** Files and folders. */
  readonly write?: readonly string[];
  /** Variable names. */
  readonly env?: readonly string[];
  /** Files of native code. */
  readonly ffi?: readonly string[];
  /** Kinds of system information. */
  readonly sys?: readonly string[];
}

/** Backends that can be chosen by name in the configuration. */
export interface Plugin<F extends Fields = Fields> {
  /** Name used in the configuration. */
  readonly name: string;
  /** Settings, read only when the plugin is chosen. */
  readonly fields: F;
  /** What the relayer must be allowed when the plugin plays this role. */
  permissions?(role: Role, settings: Values<F>, dataDir: string): Permissions;
  /** One factory for each role the plugin can play. */
  readonly roles: {
    readonly [R in Role]?: (
      settings: Values<F>,
      context: PluginContext,
    ) => Promise<NonNullable<Backends[R]>> | NonNullable<Backends[R]>;
  };
}

/** Types a plugin's factories from its fields. */
export function definePlugin<const F extends Fields>(plugin: Plugin<F>): Plugin<F> {
  return plugin;
}
