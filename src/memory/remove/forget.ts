import type { Uses } from "../parts.ts";
import { type Caller, checkOpenTo, scopeOf } from "../caller.ts";
import type { BlobInfo, Scope } from "../../interfaces/mod.ts";
import {
  applyDeletion,
  type Gone,
  goneOf,
  isManualUnderWay,
  noteDeletion,
  type Removing,
} from "./remove.ts";
import { finishDeletions } from "./replay.ts";

/**
 * Deletes every memory of a namespace and cancels its pending jobs.
 *
 * @returns ids of the memories it had, pending ones included.
 * @throws {SvcError} `permission_denied` for a key of other namespaces.
 */
export async function forget(
  domain: Removing & Uses<{ policies: "setConflicts" | "setDeduplicates" }>,
  caller: Caller,
  namespace: string,
): Promise<string[]> {
  checkOpenTo(caller, namespace);
  const scope = scopeOf(caller, namespace);
  // Before that turn: a blob stored later may belong to a memory accepted after it.
  const [stored] = await Promise.allSettled([storedBlobs(domain, scope)]);
  // In one turn, so that a memory is either seen here or accepted after the time noted.
  const { gone, failed, live } = await domain.index.read(scope, (loaded) => {
    const live = domain.jobs.liveIn(scope);
    const found = new Map<string, Gone>();
    for (const item of live) found.set(item.job.memoryId, goneOf(item));
    for (const memory of loaded.entries()) found.set(memory.id, memory);
    const gone = [...found.values()].filter(({ id }) => !domain.tombstones.isDeleted(scope, id));
    const written = domain.rowWrites.in(scope);
    const times = [...loaded.entries(), ...written].map((memory) => memory.updatedAt);
    for (const { job } of live) times.push(job.acceptedAt);
    const at = times.reduce((latest, time) => Math.max(latest, time), domain.now());
    const ids = gone.map(({ id }) => id);
    const hidden = new Set([...domain.versions.idsIn(scope), ...written.map(({ id }) => id)]);
    const failed = [...hidden].filter((id) =>
      !found.has(id) && !domain.tombstones.isDeleted(scope, id)
    );
    // Blobs that are not indexed have no id here: the time covers them.
    domain.tombstones.beginForget(scope, at);
    domain.policies.setConflicts(scope, undefined);
    domain.policies.setDeduplicates(scope, undefined);
    // By id as well, because clocks of machines differ.
    noteDeletion(domain, caller, scope, ["", ...ids], at);
    domain.tombstones.addTombstones(scope, [...ids, ...failed], at);
    return { gone, failed, live };
  });
  await applyDeletion(domain, scope, [...gone, ...failed.map((id) => ({ id }))], live);
  const finished = await finishDeletions(domain, scope);
  if (stored.status === "rejected") throw stored.reason;
  const known = new Set([...gone, ...finished].map(({ blobId }) => blobId));
  const rest = stored.value.filter(({ blobId }) => !known.has(blobId));
  await removeUnindexed(domain, scope, rest);
  domain.tombstoneSender.notify();
  return gone.map(({ id }) => id);
}

async function storedBlobs({ blobStore }: Removing, scope: Scope): Promise<BlobInfo[]> {
  return blobStore.delete === undefined ? [] : await Array.fromAsync(blobStore.list(scope));
}

/** Removes those blobs of a forgotten scope that no memory refers to. */
async function removeUnindexed(
  { blobStore, index, jobs }: Removing,
  scope: Scope,
  stored: readonly BlobInfo[],
): Promise<void> {
  await index.read(scope, async (loaded) => {
    for (const { blobId, bytes } of stored) {
      if (loaded.hasBlob(blobId)) continue;
      const isAwaited = isManualUnderWay(jobs.liveIn(scope), bytes, new Set());
      if (!isAwaited) await blobStore.delete?.(blobId, scope);
    }
  });
}
