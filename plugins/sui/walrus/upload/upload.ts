import type { Scope } from "../../../../src/interfaces/mod.ts";
import type { UploadState } from "./rows/schema.ts";

/** A memory's place within a quilt. */
export interface PatchPlace {
  /** Identifier within the quilt. */
  readonly identifier: string;
  /** Quilt patch id. */
  readonly id: string;
}

/** What encoding a blob gave. */
export interface Encoded {
  /** Walrus blob id, 43 characters of base64url. */
  readonly blobId: string;
  /** Root of the Merkle tree over its slivers, 32 bytes. */
  readonly rootHash: Uint8Array;
  /** Size of the blob in bytes, unencoded. */
  readonly size: number;
  /** Patches of a quilt; empty for a single blob. */
  readonly patches: readonly PatchPlace[];
}

/** A blob on its way. */
export interface Upload extends Scope {
  /** Its number. */
  readonly seq: number;
  /** Whether it is a quilt. */
  readonly quilt: boolean;
  /** How far it is. */
  readonly state: UploadState;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Deleted ids that its tombstone patch names. */
  readonly tombstones: readonly string[];
  /** Key of a blob that is stored once more. */
  readonly key?: string;
  /** Present from `encoded` on. */
  readonly encoded?: Encoded;
  /** 32 random bytes that bind a tip to the blob; from `encoded` on. */
  readonly nonce?: Uint8Array;
  /** Address of the wallet that pays, from `registering` or `asked` on. */
  readonly wallet?: string;
  /** The Blob object, from `registered` on. */
  readonly objectId?: string;
  /** First epoch in which it is no longer stored, from `registered` on. */
  readonly endEpoch?: number;
  /** Number of the transaction that registers it, from `registering` on. */
  readonly register?: number;
  /** Proof of storage, from `uploaded` on; absent where a publisher certified. */
  readonly certificate?: Uint8Array;
  /** Number of the transaction that certifies and transfers, in `finishing`. */
  readonly finish?: number;
  /** When a publisher was asked, milliseconds since the epoch. */
  readonly askedAt?: number;
}

/** What `put` was given. */
export interface Item extends Scope {
  /** Its number, in the order of arrival. */
  readonly seq: number;
  /** Whether it is a blob by itself. */
  readonly standalone: boolean;
  /** Size in bytes. */
  readonly size: number;
  /** When it arrived, milliseconds since the epoch. */
  readonly createdAt: number;
}
