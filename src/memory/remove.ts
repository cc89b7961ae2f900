import { SvcError } from "../errors.ts";
import type { IndexedMemory } from "../index/loaded_scope.ts";
import type { Scope } from "../interfaces/mod.ts";
import type { LiveJob } from "../jobs/live_job.ts";
import { type Caller, type Domain, scopeOf } from "./domain.ts";

/** What became of a deleted memory's blob. */
export type BlobFate = "deleted" | "retained" | "none";

/** Removes memories whose tombstones are written: from index, vector store and blob store. */
async function remove(
  domain: Domain,
  scope: Scope,
  memories: readonly IndexedMemory[],
  ids: readonly string[],
): Promise<Map<string, BlobFate>> {
  domain.index.remove(scope, ids);
  await domain.vectorStore.delete(scope, ids);
  const fates = new Map<string, BlobFate>();
  for (const memory of memories) {
    if (memory.blobId === undefined) fates.set(memory.id, "none");
    else fates.set(memory.id, await removeBlob(domain, scope, memory.blobId));
  }
  return fates;
}

async function removeBlob(domain: Domain, scope: Scope, blobId: string): Promise<BlobFate> {
  if (domain.blobStore.delete === undefined) return "retained";
  // Two manual memories may share one blob: it stays while another memory needs it.
  const shared = await domain.index.read(scope, (loaded) => loaded.hasBlob(blobId));
  if (shared) return "retained";
  return await domain.blobStore.delete(blobId, scope) ? "deleted" : "retained";
}

/** Ends the unfinished jobs of deleted memories; a running one undoes its own effects. */
async function cancel(domain: Domain, jobs: readonly LiveJob[]): Promise<void> {
  for (const live of jobs) live.cancelled = true;
  await Promise.all(
    jobs.map((live) => domain.jobs.end(live, { state: "failed", errorCode: "deleted" })),
  );
}

/**
 * Deletes a memory with all its versions and cancels its unfinished job.
 *
 * @throws {SvcError} `memory_not_found`, also for another owner's.
 */
export async function deleteMemory(domain: Domain, caller: Caller, id: string): Promise<BlobFate> {
  const { owner } = caller.account;
  const [entry] = await domain.vectorStore.get(owner, [id]);
  const live = domain.jobs.liveOf(owner).filter((item) => item.job.memoryId === id);
  const namespace = entry?.namespace ?? live[0]?.job.namespace;
  if (namespace === undefined) throw new SvcError("memory_not_found");
  const scope = scopeOf(caller, namespace);
  if (entry !== undefined && domain.tombstones.isDeleted(scope, id)) {
    throw new SvcError("memory_not_found");
  }
  domain.tombstones.addTombstones(scope, [id], domain.now());
  await cancel(domain, live);
  // Read again: the job may have stored its blob meanwhile.
  const entries = await domain.vectorStore.get(owner, [id]);
  const fates = await remove(domain, scope, entries, [id]);
  domain.tombstones.markApplied(scope, [id]);
  return fates.get(id) ?? "none";
}

/**
 * Deletes every memory of a namespace and cancels its pending jobs.
 *
 * @returns how many memories it had, pending ones included.
 */
export async function forget(domain: Domain, caller: Caller, namespace: string): Promise<number> {
  const scope = scopeOf(caller, namespace);
  const now = domain.now();
  const live = domain.jobs.liveIn(scope);
  const memories = await domain.index.read(
    scope,
    (loaded) => loaded.entries().filter((memory) => memory.updatedAt <= now),
  );
  const ids = new Set([...live.map((item) => item.job.memoryId), ...memories.map((m) => m.id)]);
  const gone = [...ids].filter((id) => !domain.tombstones.isDeleted(scope, id));
  // Blobs that are not indexed have no id here: the time covers them. A memory accepted in this
  // very millisecond has its own tombstone, or came after.
  domain.tombstones.forgetNamespace(scope, now - 1);
  domain.tombstones.addTombstones(scope, gone, now);
  await cancel(domain, live);
  await remove(domain, scope, memories, gone);
  await removeUnindexed(domain, scope, now);
  domain.tombstones.markApplied(scope, gone);
  return gone.length;
}

/** Removes blobs of a forgotten scope that no memory refers to. */
async function removeUnindexed(domain: Domain, scope: Scope, before: number): Promise<void> {
  if (domain.blobStore.delete === undefined) return;
  const old: string[] = [];
  for await (const blob of domain.blobStore.list(scope)) {
    if (blob.createdAt !== undefined && blob.createdAt < before) old.push(blob.blobId);
  }
  const orphans = await domain.index.read(
    scope,
    (loaded) => old.filter((blobId) => !loaded.hasBlob(blobId)),
  );
  for (const blobId of orphans) await domain.blobStore.delete(blobId, scope);
}

/** Finishes deletions that a crash interrupted. */
export async function replayTombstones(domain: Domain): Promise<void> {
  for (const { owner, namespace, id } of domain.tombstones.unapplied()) {
    const scope: Scope = { owner, namespace };
    const live = domain.jobs.liveIn(scope).filter((item) => item.job.memoryId === id);
    await cancel(domain, live);
    const entries = await domain.vectorStore.get(owner, [id]);
    await remove(domain, scope, entries, [id]);
    domain.tombstones.markApplied(scope, [id]);
  }
}

/** Deletes expired memories of a scope in the background. */
export function purgeExpired(domain: Domain, scope: Scope): void {
  void (async () => {
    const now = domain.now();
    const expired = await domain.index.read(
      scope,
      (loaded) => loaded.entries().filter((memory) => (memory.expiresAt ?? Infinity) <= now),
    );
    const ids = expired.map((memory) => memory.id);
    if (ids.length === 0) return;
    domain.tombstones.addTombstones(scope, ids, now);
    await remove(domain, scope, expired, ids);
    domain.tombstones.markApplied(scope, ids);
  })().catch((error) => {
    domain.logger.warn("purge_failed", { reason: SvcError.from(error).code });
  });
}
