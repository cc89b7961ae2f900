import { SvcError } from "../errors.ts";
import type { Scope } from "./mod.ts";

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
  /** As `open`, on the thread pool: better above 64 KiB. The bytes may change once it returned. */
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

/** What the factory of any role is told. */
export interface RoleContext {
  /** Notes for the operator's log; never texts, keys or vectors. */
  log(level: "debug" | "info" | "warn" | "error", message: string): void;
}

/** What the factory of a role that may keep files is told. */
export interface FileContext extends RoleContext {
  /** Folder for files of this relayer; exists, 0700. Absent where the relayer keeps nothing. */
  readonly dataDir?: string | undefined;
}

/** What the factory of a cipher is told. */
export interface CipherContext extends RoleContext {
  /** Encryption under the relayer key, for this plugin in this role. */
  readonly sealer: Sealer;
  /** Wrapped data keys. */
  readonly keys: KeyStore;
}

/** What the factory of a vector store is told. */
export interface VectorStoreContext extends FileContext {
  /** Encryption under the relayer key, for this plugin in this role. */
  readonly sealer: Sealer;
  /** Length of the embedder's vectors. */
  readonly dimensions: number;
  /** Name of the embedder's model. */
  readonly model: string;
}

/** What the factory of each role is told of its surroundings: what exists for that role. */
export interface RoleContexts {
  /** Also opened by commands, while no relayer runs. */
  readonly accounts: FileContext;
  /** Sealed records need no encryption of the store's own. */
  readonly blobStore: FileContext;
  /** Its keys are kept by the relayer. */
  readonly cipher: CipherContext;
  /** Opened before every other role. */
  readonly embedder: FileContext;
  /** May keep what it found out about its model. */
  readonly languageModel: FileContext;
  /** May run in the sidecar, which has no folder and no key. */
  readonly sponsor: RoleContext;
  /** Opened before every other role: nothing is known yet. */
  readonly store: RoleContext;
  /** Opened once the embedder is known. */
  readonly vectorStore: VectorStoreContext;
}

/**
 * The folder of a backend that cannot do without files.
 *
 * @param plugin Name for the error.
 * @throws {SvcError} `invalid_parameter` where the relayer keeps nothing.
 */
export function requireFolder({ dataDir }: FileContext, plugin: string): string {
  if (dataDir !== undefined) return dataDir;
  throw new SvcError("invalid_parameter", `${plugin} keeps files: give the relayer a dataDir`);
}
