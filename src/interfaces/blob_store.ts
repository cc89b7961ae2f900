import type { CallOptions, Scope } from "./common.ts";

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
}

/**
 * Durable ciphertext, listed by owner and namespace. Verify an implementation with
 * `blobStoreSuite` of `@svc/relayer/testing`.
 */
export interface BlobStore extends AsyncDisposable {
  /** Stores bytes durably and answers their id. Equal bytes of one scope may share an id. */
  put(bytes: Uint8Array, options: PutOptions): Promise<string>;
  /** The bytes, or `undefined` when the scope has no such blob. */
  get(blobId: string, scope: Scope, options?: CallOptions): Promise<Uint8Array | undefined>;
  /** Every blob of a scope, newest first. */
  list(scope: Scope, options?: CallOptions): AsyncIterable<BlobInfo>;
  /** Removes a blob of a scope; answers whether it is gone. Absent where a store cannot delete. */
  delete?(blobId: string, scope: Scope, options?: CallOptions): Promise<boolean>;
}
