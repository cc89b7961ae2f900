import type { PutOptions, Scope } from "../../../src/interfaces/mod.ts";

// Attributes of a Blob object: whose it is, in which namespace, of which package, and the version of
// its content's form.
export const ATTRIBUTE_OWNER = "svc_owner";
export const ATTRIBUTE_NAMESPACE = "svc_namespace";
export const ATTRIBUTE_PACKAGE = "svc_package";
export const ATTRIBUTE_FORMAT = "svc_format";
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
  /** `0x` and 64 hex characters. */
  readonly objectId: string;
  /** Walrus blob id, 43 characters of base64url. */
  readonly blobId: string;
  /** Address that holds the object. */
  readonly holder: string;
  readonly quilt: boolean;
  /** Unencoded size in bytes. */
  readonly size: number;
  /** First Walrus epoch in which it is no longer stored. */
  readonly endEpoch: number;
  /** Milliseconds since the epoch, by the clock of who found or stored it. */
  readonly createdAt: number;
}

/** What became of a Blob object: see the table `stored`. */
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

/** A patch or blob id that was deleted here. */
export interface Tombstone extends Scope {
  readonly id: string;
  /** When, milliseconds since the epoch. */
  readonly at: number;
  /** Blob id of the quilt that tells others; absent while none does. */
  readonly quilt?: string;
}

/** A blob, unencoded, to store once more under its id in a new Blob object of its owner. */
export interface StoreAgain extends Scope {
  /** What its bytes must encode to. */
  readonly blobId: string;
  readonly bytes: Uint8Array;
  readonly quilt: boolean;
  /** The same key stores once. */
  readonly key: string;
}

/** What upkeep needs of writing. */
export interface BlobWriter {
  /**
   * Stores bytes in a quilt of their scope, or by themselves; returns their id once that blob is
   * certified and its owner's. The same key yields the same id.
   */
  put(bytes: Uint8Array, options: PutOptions): Promise<string>;
  /**
   * Notes, inside `database.write`, that what was put under an id has another one now, which the
   * same key yields from now on.
   */
  moved(scope: Scope, from: string, to: string): void;
  /** Stores a blob once more and returns the new object; the same key yields the same object. */
  storeAgain(blob: StoreAgain): Promise<StoredBlob>;
  /** Stores what waits without waiting for more, and resolves when nothing is under way. */
  drain(): Promise<void>;
}
