import { memoryBlobStore } from "../../plugins/memory/blob_store.ts";
import { SvcError } from "../../src/errors.ts";
import type { BlobMoveListener, BlobStore, Scope } from "../../src/interfaces/mod.ts";

/** Blobs that nobody can take back, as on a public network; any number of relayers read them. */
export class PublicBlobs implements AsyncDisposable {
  readonly #kept = memoryBlobStore();
  /** Idempotency keys of every put that came through. */
  readonly puts: string[] = [];
  /** Puts fail while set. */
  down = false;
  /** Puts of memories wait for it, as for company in a pack. */
  company: Promise<void> = Promise.resolve();

  /** A relayer's view: what it deleted is neither read nor listed by it again. */
  open(
    { withdraws = false } = {},
  ): BlobStore & { move(scope: Scope, from: string, to: string): Promise<void> } {
    const deleted = new Set<string>();
    const renamed = new Map<string, string>();
    const listeners = new Set<BlobMoveListener>();
    const kept = this.#kept;
    const waiting = new Map<string, AbortController>();
    const withdraw = (key: string) => {
      waiting.get(key)?.abort(new SvcError("storage_unavailable", "withdrawn"));
      return Promise.resolve(waiting.delete(key));
    };
    return {
      ...(withdraws ? { withdraw } : {}),
      put: async (bytes, options) => {
        if (this.down) throw new Error("down");
        if (!options.idempotencyKey.startsWith("tombstone:")) {
          const withdrawn = new AbortController();
          waiting.set(options.idempotencyKey, withdrawn);
          const { signal = withdrawn.signal } = options;
          await untilAborted(this.company, AbortSignal.any([signal, withdrawn.signal]));
          waiting.delete(options.idempotencyKey);
        }
        this.puts.push(options.idempotencyKey);
        return await kept.put(bytes, options);
      },
      get: async (blobId, scope) =>
        deleted.has(blobId) ? undefined : await kept.get(renamed.get(blobId) ?? blobId, scope),
      async *list(scope) {
        const names = new Map([...renamed].map(([to, from]) => [from, to]));
        for await (const blob of kept.list(scope)) {
          const blobId = names.get(blob.blobId) ?? blob.blobId;
          if (!deleted.has(blobId)) yield { ...blob, blobId };
        }
      },
      delete: (blobId) => {
        deleted.add(blobId);
        return Promise.resolve(false);
      },
      watchMoves(listener) {
        listeners.add(listener);
        return { [Symbol.dispose]: () => void listeners.delete(listener) };
      },
      async move(scope, from, to) {
        renamed.set(to, from);
        for (const listener of listeners) await listener([{ ...scope, from, to }]);
      },
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#kept[Symbol.asyncDispose]();
  }
}

async function untilAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  try {
    await Promise.race([work, aborted.promise]);
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}
