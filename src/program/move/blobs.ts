import { SvcError } from "../../errors.ts";
import type { BlobInfo, BlobStore, Scope } from "../../interfaces/mod.ts";
import type { OpenPlace } from "./place.ts";
import { forEach } from "./parallel.ts";

/** The bytes of a blob that its store lists. */
export async function bytesOf(
  blobStore: BlobStore,
  { blobId }: Pick<BlobInfo, "blobId">,
  scope: Scope,
): Promise<Uint8Array> {
  const bytes = await blobStore.get(blobId, scope);
  if (bytes !== undefined) return bytes;
  throw new SvcError("storage_unavailable", "A blob that is listed cannot be read");
}

/** Copies a scope's blobs that are not there yet, the oldest first, under the ids that they have. */
export async function copyBlobs(from: OpenPlace, to: OpenPlace, scope: Scope): Promise<void> {
  const [source, target] = [from.backends.blobStore, to.backends.blobStore];
  const all = await Array.fromAsync(source.list(scope));
  if (all.length === 0) return;
  const there = new Set((await Array.fromAsync(target.list(scope))).map(({ blobId }) => blobId));
  const missing = all.reverse().filter(({ blobId }) => !there.has(blobId));
  await forEach(missing, async (info) => {
    const { blobId, createdAt } = info;
    const stored = await target.put(await bytesOf(source, info, scope), {
      ...scope,
      idempotencyKey: `moved ${blobId}`,
      ...(createdAt === undefined ? {} : { storedAt: createdAt }),
    });
    if (stored === blobId) return;
    const text = "The blob store there names blobs in another way than the one here";
    throw new SvcError("invalid_parameter", text);
  });
}
