import type { BackendHealth, CallOptions, Scope } from "./common.ts";

/** A stored blob. */
export interface BlobInfo {
  /** Id of the blob, 1 to 128 characters out of letters, digits, `-` and `_`. */
  readonly blobId: string;
  /** Size in bytes. */
  readonly bytes: number;
  /** When it was stored, milliseconds since the epoch, where the store knows. */
  readonly createdAt?: number;
}

/** Options of {@linkcode BlobStore.put}. */
export interface PutOptions extends Scope, CallOptions {
  /** The same key never stores twice: the first blob's id is answered again. */
  readonly idempotencyKey: string;
  /**
   * The blob is read by others under its id, byte for byte: a store that packs blobs together
   * stores it by itself.
   */
  readonly standalone?: boolean;
  /**
   * When it was stored first, milliseconds since the epoch, where it comes from another store; a
   * store that cannot note it takes the present time.
   */
  readonly storedAt?: number;
}

/** A blob that is now stored under another id; the earlier id is read for a while longer. */
export interface BlobMove extends Scope {
  /** Id so far. */
  readonly from: string;
  /** Id from now on. */
  readonly to: string;
}

/** Takes note of moves; the store tells them again until one call resolves. */
export type BlobMoveListener = (moves: readonly BlobMove[]) => Promise<void>;

/**
 * Durable ciphertext, listed by owner and namespace. Verify an implementation with
 * `blobStoreSuite` of `@svc/relayer/testing`.
 */
export interface BlobStore extends AsyncDisposable {
  /**
   * Whether a deleted blob's bytes are gone at once, everywhere. Absent: the store may keep them,
   * and is told deletions by sealed tombstones.
   */
  readonly erases?: boolean;
  /**
   * Whether bytes of deleted blobs stay, sealed, where no call can overwrite them, such as in the log
   * and the free pages of a database server: no deletion is then called erased.
   */
  readonly leavesDeleted?: boolean;
  /** Stores bytes durably and answers their id. Equal bytes of one scope may share an id. */
  put(bytes: Uint8Array, options: PutOptions): Promise<string>;
  /** The bytes, or `undefined` when the scope has no such blob. */
  get(blobId: string, scope: Scope, options?: CallOptions): Promise<Uint8Array | undefined>;
  /**
   * The bytes of a blob that somebody else stored, where the store is public; `undefined` when there
   * is none. Absent elsewhere.
   */
  getForeign?(blobId: string, options?: CallOptions): Promise<Uint8Array | undefined>;
  /** Every blob of a scope, newest first. */
  list(scope: Scope, options?: CallOptions): AsyncIterable<BlobInfo>;
  /**
   * Removes a blob of a scope: it is neither read nor listed here again. Answers whether its bytes
   * are gone; false where a copy stays that others may read, and that a store opened elsewhere may
   * list. Absent where a store cannot delete.
   */
  delete?(blobId: string, scope: Scope, options?: CallOptions): Promise<boolean>;
  /**
   * Overwrites what deleted blobs left in the store's files; afterwards none of their bytes stands
   * there. Absent where nothing is left behind. Rejects where it has to be tried again later.
   */
  scrub?(options?: CallOptions): Promise<void>;
  /**
   * Until when the bytes of a deleted blob are kept where others may read them, milliseconds since
   * the epoch; `undefined` where that is not known. Absent where a deletion ends them.
   */
  keptUntil?(blobId: string, scope: Scope, options?: CallOptions): Promise<number | undefined>;
  /**
   * Takes back what was put under a key of a scope and has not left this machine: it is forgotten,
   * and a `put` that waits for it rejects with `storage_unavailable`. Answers whether it was; false
   * once it may be stored. Absent where `put` stores at once.
   */
  withdraw?(idempotencyKey: string, scope: Scope): Promise<boolean>;
  /** Calls back when blobs moved, also those of an earlier process; dispose to stop. */
  watchMoves?(listener: BlobMoveListener): Disposable;
  /** What the last calls say about what it depends on; absent where there is nothing. */
  health?(): BackendHealth;
}
