/**
 * Builds quilts and computes blob ids, away from the event loop: 3 s of CPU at 1000 shards, however
 * small the blob.
 *
 * @module
 */
import { encodeQuilt } from "@mysten/walrus";
import init, { BlobEncoder } from "@mysten/walrus-wasm";
import type { EncodeRequest, EncodeResponse } from "./encode_messages.ts";

/** What is used of a worker's global scope. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<EncodeRequest>) => void) | null;
  postMessage(message: EncodeResponse, transfer?: Transferable[]): void;
}

const scope = globalThis as unknown as WorkerScope;
const ready = init();
/** The last request of this thread: one is answered after the other. */
let turn: Promise<void> = Promise.resolve();

scope.onmessage = ({ data }) => {
  turn = turn.then(() => answer(data));
};

async function answer(request: EncodeRequest): Promise<void> {
  try {
    await ready;
    const made = encode(request);
    scope.postMessage(made, [made.blob.buffer as ArrayBuffer]);
  } catch (error) {
    scope.postMessage({ id: request.id, error: String(error) });
  }
}

function encode({ id, shards, patches, blob }: EncodeRequest) {
  const quilt = patches === undefined ? undefined : encodeQuilt({
    blobs: patches.map(({ identifier, bytes }) => ({ identifier, contents: bytes })),
    numShards: shards,
  });
  const bytes = quilt?.quilt ?? blob!;
  // The answer's shape is the library's Rust tuple: blob id, root, length, encoding.
  const encoder = new BlobEncoder(shards);
  const [blobId, root] = encoder.compute_metadata(bytes) as [
    ArrayLike<number>,
    { Digest: ArrayLike<number> },
  ];
  encoder.free();
  return {
    id,
    blobId: Uint8Array.from(blobId),
    rootHash: Uint8Array.from(root.Digest),
    blob: bytes,
    places: (quilt?.index.patches ?? []).map(({ identifier, startIndex, endIndex }) => ({
      identifier,
      start: startIndex,
      end: endIndex,
    })),
  };
}
