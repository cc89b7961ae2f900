import type { Scope } from "../../../../src/interfaces/mod.ts";
import type { StoredPatch } from "../stored_blob.ts";

/** What encoding a blob yields. */
export interface Encoded {
  /** Walrus blob id, 43 characters of base64url. */
  readonly blobId: string;
  /** Root of the Merkle tree over the blob's slivers, 32 bytes. */
  readonly rootHash: Uint8Array;
  /** Size of the unencoded blob in bytes. */
  readonly size: number;
  /** Patches of a quilt; empty for a single blob. */
  readonly patches: readonly Pick<StoredPatch, "identifier" | "id">[];
}

/**
 * How far a blob is: `cut` (its items are chosen), `encoded` (id known), `asked` (a publisher may
 * be storing it), `registering` (transaction signed), `registered` (Blob object known), `uploaded`
 * (certificate known), `finishing` (transaction signed), `done`.
 */
type UploadState =
  | "cut"
  | "encoded"
  | "asked"
  | "registering"
  | "registered"
  | "uploaded"
  | "finishing"
  | "done";

/** A blob that is to be stored in the objects of an owner. Times are milliseconds since the epoch. */
export interface NewUpload extends Scope {
  readonly quilt: boolean;
  readonly createdAt: number;
  /** Deleted ids that its tombstone patch names. */
  readonly tombstones?: readonly string[];
  /** Set for a blob that is stored once more; the same key stores once. */
  readonly key?: string;
}

/** A blob on its way to Walrus. */
export interface Upload extends NewUpload {
  /** Row number. */
  readonly seq: number;
  readonly state: UploadState;
  readonly tombstones: readonly string[];
  /** Present from `encoded` on. */
  readonly encoded?: Encoded;
  /** 32 random bytes that bind a tip to the blob; from `encoded` on. */
  readonly nonce?: Uint8Array;
  /** Address of the wallet that pays, from `registering` or `asked` on. */
  readonly wallet?: string;
  /** Id of the Blob object, from `registered` on. */
  readonly objectId?: string;
  /** First epoch in which the blob is no longer stored, from `registered` on. */
  readonly endEpoch?: number;
  /** Row number of the transaction that registers it, from `registering` on. */
  readonly register?: number;
  /** Proof of storage, from `uploaded` on; absent where a publisher certified. */
  readonly certificate?: Uint8Array;
  /** Row number of the transaction that certifies and transfers it, in `finishing`. */
  readonly finish?: number;
  /** When a publisher was asked. */
  readonly askedAt?: number;
}

/** Bytes given to `put` that no upload has taken yet. */
export interface Item extends Scope {
  /** Row number, in the order of arrival. */
  readonly seq: number;
  /** Whether it must become a blob by itself. */
  readonly standalone: boolean;
  /** Size in bytes. */
  readonly size: number;
  /** When it arrived, milliseconds since the epoch. */
  readonly createdAt: number;
}
