import type { BlobStore, Scope } from "../../src/interfaces/mod.ts";
import { Gate } from "./gate.ts";

interface StoredBlob {
  readonly content: Uint8Array;
  readonly createdAt: number;
}

interface ScopeBlobs {
  /** In the order they were put. */
  readonly blobs: Map<string, StoredBlob>;
  /** Idempotency key to blob id. */
  readonly ids: Map<string, string>;
}

/** Ciphertext in a map, without persistence. */
export function memoryBlobStore(): BlobStore {
  const gate = new Gate("storage_unavailable");
  const scopes = new Map<string, ScopeBlobs>();
  const scopeOf = ({ owner, namespace }: Scope): ScopeBlobs =>
    scopes.getOrInsertComputed(
      JSON.stringify([owner, namespace]),
      () => ({ blobs: new Map(), ids: new Map() }),
    );
  return {
    erases: true,
    async put(bytes, options) {
      const content = bytes.slice();
      await gate.pass(options.signal);
      const { blobs, ids } = scopeOf(options);
      return ids.getOrInsertComputed(options.idempotencyKey, () => {
        const blobId = crypto.randomUUID();
        blobs.set(blobId, { content, createdAt: options.storedAt ?? Date.now() });
        return blobId;
      });
    },
    async get(blobId, scope, options) {
      await gate.pass(options?.signal);
      return scopeOf(scope).blobs.get(blobId)?.content.slice();
    },
    async *list(scope, options) {
      await gate.pass(options?.signal);
      for (const [blobId, { content, createdAt }] of [...scopeOf(scope).blobs].reverse()) {
        options?.signal?.throwIfAborted();
        yield { blobId, bytes: content.length, createdAt };
      }
    },
    async delete(blobId, scope, options) {
      await gate.pass(options?.signal);
      scopeOf(scope).blobs.delete(blobId);
      return true;
    },
    [Symbol.asyncDispose]: () => gate[Symbol.asyncDispose](),
  };
}
