/**
 * Builds quilts and computes blob ids in a thread of its own: at 1000 shards that takes 3 s of CPU,
 * however small the blob.
 *
 * @module
 */
import { encodeQuilt } from "@mysten/walrus";
import init, { BlobEncoder } from "@mysten/walrus-wasm";
import type { WorkerScope } from "../../../../src/threads.ts";

/** What to encode at a number of shards: patches of a quilt, or the unencoded blob itself. */
export type EncodeSource =
  & { readonly shards: number }
  & (
    /** Identifiers are unique within the quilt. */
    | { readonly patches: readonly { readonly identifier: string; readonly bytes: Uint8Array }[] }
    | { readonly blob: Uint8Array }
  );

/** What encoding yielded, or why it failed. */
export type EncodeAnswer = { readonly id: number } & ({ readonly error: string } | EncodedParts);

/** An encoded blob. */
export interface EncodedParts {
  /** Walrus blob id, 32 bytes. */
  readonly blobId: Uint8Array;
  /** Root of the Merkle tree over the blob's slivers, 32 bytes. */
  readonly rootHash: Uint8Array;
  readonly blob: Uint8Array;
  /** Columns of the patches, `start` to `end` (exclusive). */
  readonly places: readonly {
    readonly identifier: string;
    readonly start: number;
    readonly end: number;
  }[];
}

const scope = globalThis as unknown as WorkerScope<
  EncodeSource & { readonly id: number },
  EncodeAnswer
>;
const ready = init();
/** The last request of this thread: one is answered after the other. */
let turn: Promise<void> = Promise.resolve();

scope.onmessage = ({ data }) => {
  turn = turn.then(() => answer(data.id, data));
};

async function answer(id: number, source: EncodeSource): Promise<void> {
  try {
    await ready;
    const made = encode(source);
    scope.postMessage({ id, ...made }, [made.blob.buffer as ArrayBuffer]);
  } catch (error) {
    scope.postMessage({ id, error: String(error) });
  }
}

function encode({ shards, ...source }: EncodeSource): EncodedParts {
  const { quilt: bytes, index } = "blob" in source
    ? { quilt: source.blob, index: undefined }
    : encodeQuilt({
      blobs: source.patches.map(({ identifier, bytes }) => ({ identifier, contents: bytes })),
      numShards: shards,
    });
  // The library returns its Rust tuple: blob id, root, length, encoding.
  const encoder = new BlobEncoder(shards);
  const [blobId, root] = encoder.compute_metadata(bytes) as [
    ArrayLike<number>,
    { Digest: ArrayLike<number> },
  ];
  encoder.free();
  return {
    blobId: Uint8Array.from(blobId),
    rootHash: Uint8Array.from(root.Digest),
    blob: bytes,
    places: (index?.patches ?? []).map(({ identifier, startIndex, endIndex }) => ({
      identifier,
      start: startIndex,
      end: endIndex,
    })),
  };
}
