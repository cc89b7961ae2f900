/** A patch to put into a quilt. */
export interface PatchSource {
  /** Identifier, unique within the quilt. */
  readonly identifier: string;
  /** Its bytes. */
  readonly bytes: Uint8Array;
}

/** What a worker encodes: patches of a quilt, or a blob. */
export interface EncodeRequest {
  /** Number of the request. */
  readonly id: number;
  /** Shards of the network. */
  readonly shards: number;
  /** Patches of a quilt. */
  readonly patches?: readonly PatchSource[];
  /** Or the blob itself. */
  readonly blob?: Uint8Array;
}

/** What encoding gave, or why it failed. */
export type EncodeResponse =
  | {
    /** Number of the request. */
    readonly id: number;
    /** Walrus blob id, 32 bytes. */
    readonly blobId: Uint8Array;
    /** Root of the Merkle tree over its slivers, 32 bytes. */
    readonly rootHash: Uint8Array;
    /** The blob, unencoded. */
    readonly blob: Uint8Array;
    /** Columns of the patches, `start` to `end` (exclusive). */
    readonly places: readonly {
      readonly identifier: string;
      readonly start: number;
      readonly end: number;
    }[];
  }
  | { readonly id: number; readonly error: string };
