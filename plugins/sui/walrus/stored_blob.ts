import type { Scope } from "../../../src/interfaces/mod.ts";

/** Attribute of a Blob object: address of the owner, `0x` and 64 hex characters. */
export const ATTRIBUTE_OWNER = "svc_owner";
/** Attribute of a Blob object: the namespace. */
export const ATTRIBUTE_NAMESPACE = "svc_namespace";
/** Attribute of a Blob object: the contract's package. */
export const ATTRIBUTE_PACKAGE = "svc_package";
/** Attribute of a Blob object: what its content looks like, {@linkcode FORMAT}. */
export const ATTRIBUTE_FORMAT = "svc_format";
/** Value of {@linkcode ATTRIBUTE_FORMAT}. */
export const FORMAT = "1";
/** Attribute by which every Walrus tool marks a quilt, with the value `quilt`. */
export const ATTRIBUTE_TYPE = "_walrusBlobType";

/**
 * Identifier of the patch of a quilt that names deleted ids, one a line. Those of memories are 8
 * characters of `0-9a-z`: 6 that are random and equal within a quilt, then a number in base 36.
 */
export const TOMBSTONE_IDENTIFIER = "deleted";

/** Most ids in one tombstone patch. */
export const MAX_TOMBSTONES = 4096;

/** Most patches in one quilt at 1000 shards: 667 columns, one of them for the index. */
export const MAX_PATCHES = 666;

/** A certified Blob object. */
export interface StoredBlob extends Scope {
  /** Object id, `0x` and 64 hex characters. */
  readonly objectId: string;
  /** Walrus blob id, 43 characters of base64url. */
  readonly blobId: string;
  /** Address that holds the object. */
  readonly holder: string;
  /** Whether it is a quilt. */
  readonly quilt: boolean;
  /** Unencoded size in bytes. */
  readonly size: number;
  /** First Walrus epoch in which it is no longer stored. */
  readonly endEpoch: number;
  /** Milliseconds since the epoch, by the clock of who found or stored it. */
  readonly createdAt: number;
}

/** What became of a Blob object. */
export type StoredState = "live" | "replaced" | "gone";

/** A memory's bytes within a blob. */
export interface StoredPatch {
  /** Quilt patch id, or the blob id of a blob stored by itself. */
  readonly id: string;
  /** Identifier within the quilt; empty for a blob by itself. */
  readonly identifier: string;
  /** Size in bytes. */
  readonly size: number;
}

/** An id deleted here. */
export interface Tombstone extends Scope {
  /** Patch or blob id. */
  readonly id: string;
  /** When, milliseconds since the epoch. */
  readonly at: number;
  /** Blob id of the quilt that tells others; absent while none does. */
  readonly quilt?: string;
}

/**
 * A blob to store once more under its id, in a new Blob object of its owner: renewal of what the
 * relayer does not hold itself, and cannot extend.
 */
export interface StoreAgain extends Scope {
  /** Its id; what its bytes must encode to. */
  readonly blobId: string;
  /** The blob, unencoded: all of a quilt. */
  readonly bytes: Uint8Array;
  /** Whether it is a quilt. */
  readonly quilt: boolean;
  /** The same key stores once. */
  readonly key: string;
}

/** What reading and upkeep ask of writing. */
export interface BlobWriter {
  /**
   * Stores bytes in a quilt of their scope, or by themselves; answers their id once that blob is
   * certified and its owner's. The same key is answered the same id.
   */
  put(bytes: Uint8Array, options: {
    readonly owner: string;
    readonly namespace: string;
    readonly idempotencyKey: string;
    readonly standalone?: boolean;
    readonly signal?: AbortSignal | undefined;
  }): Promise<string>;
  /**
   * Notes, inside `database.write`, that what was put under an id has another one now: the same key
   * is answered that one.
   */
  moved(scope: Scope, from: string, to: string): void;
  /** Stores a blob once more; answers the new object. The same key is answered the same object. */
  storeAgain(blob: StoreAgain): Promise<StoredBlob>;
  /** Stores what waits without waiting for more, and resolves when nothing is under way. */
  drain(): Promise<void>;
}
