import type { Scope } from "../../../src/interfaces/mod.ts";
import type { ChainBlob } from "./blob_object.ts";

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
export interface StoredBlob extends Scope, Omit<ChainBlob, "certifiedEpoch"> {
  /** Address that holds the object. */
  readonly holder: string;
  readonly quilt: boolean;
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

/** A blob, unencoded, to store once more under its id in a new Blob object of its owner. */
export interface StoreAgain extends Scope {
  /** What its bytes must encode to. */
  readonly blobId: string;
  readonly bytes: Uint8Array;
  readonly quilt: boolean;
  /** The same key stores once. */
  readonly key: string;
}
