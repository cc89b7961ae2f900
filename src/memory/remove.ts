import { SvcError } from "../errors.ts";
import type { IndexedMemory } from "../index/loaded_scope.ts";
import type { Scope, Source } from "../interfaces/mod.ts";
import type { LiveJob } from "../jobs/live_job.ts";
import { type Caller, type Domain, scopeOf } from "./domain.ts";
import { nameBlob } from "./store_blob.ts";
import { tombstoneSenderOf } from "./tombstone_blobs.ts";

/** What became of a deleted memory's blob. */
export type BlobFate = "deleted" | "retained" | "none";

/** A memory whose tombstone is written. */
export interface Gone {
  /** Memory id. */
  readonly id: string;
  /** Where it came from. */
  readonly source?: Source;
  /** Its blob, when known. */
  readonly blobId?: string | undefined;
  /** Size of the blob of a manual memory in bytes, when known. */
  readonly bytes?: number | undefined;
}

/** What else is known of memories that are removed. */
interface Removal {
  /** Account object id, where what the blob store keeps may not be noted yet. */
  readonly accountId?: string;
  /** Memories whose upload may go on, or have gone on before a crash: no blob yet means nothing. */
  readonly mayUpload?: ReadonlySet<string>;
}

/**
 * Removes memories whose tombstones are written: from index, blob store and vector store, and what
 * their jobs left. The row goes after the blob, because it is what names the blob when a crash
 * comes between.
 */
export async function removeMemories(
  domain: Domain,
  scope: Scope,
  memories: readonly Gone[],
  { accountId, mayUpload = new Set() }: Removal = {},
): Promise<Map<string, BlobFate>> {
  const ids = memories.map((memory) => memory.id);
  const unlinked = memories.filter((memory) => memory.blobId === undefined).map(({ id }) => id);
  const named = await Promise.all(memories.map(async (memory): Promise<Gone> => {
    if (memory.blobId !== undefined) return memory;
    return { ...memory, blobId: (await domain.jobs.get(memory.id, scope.owner))?.blobId };
  }));
  const shared = await sharedBlobs(domain, scope, named);
  domain.index.remove(scope, ids);
  // After the index, so that nobody writes its words again.
  await domain.textFiles.drop(scope);
  const fates = new Map<string, BlobFate>();
  for (const { id, blobId } of named) {
    if (blobId === undefined) fates.set(id, "none");
    else if (domain.blobStore.delete === undefined || shared.has(blobId)) fates.set(id, "retained");
    else fates.set(id, await domain.blobStore.delete(blobId, scope) ? "deleted" : "retained");
  }
  noteRetained(domain, scope, fates, accountId, mayUpload);
  await domain.vectorStore.delete(scope, ids);
  // Again: a scope that was loaded meanwhile may have read the rows before they went, and its words
  // may have been written.
  domain.index.remove(scope, ids);
  await domain.textFiles.drop(scope);
  await domain.jobs.discard(unlinked);
  return fates;
}

/** Whether the blob store may keep the bytes of deleted memories where others read them. */
function keepsBytes({ blobStore }: Domain): boolean {
  return blobStore.delete === undefined || blobStore.erases !== true;
}

/** What the blob store keeps of deleted memories needs a tombstone there; the rest needs none. */
function noteRetained(
  domain: Domain,
  scope: Scope,
  fates: ReadonlyMap<string, BlobFate>,
  accountId: string | undefined,
  mayUpload: ReadonlySet<string>,
): void {
  if (!keepsBytes(domain)) return;
  const kept: string[] = [];
  const erased: string[] = [];
  for (const [id, fate] of fates) {
    if (fate === "retained") kept.push(id);
    else if (fate === "deleted" || !mayUpload.has(id)) erased.push(id);
  }
  domain.tombstoneBlobs.remove(scope, erased);
  if (accountId !== undefined) domain.tombstoneBlobs.add(accountId, scope, kept, domain.now());
  tombstoneSenderOf(domain).notify();
}

/** Notes before anything is removed what may have to be told, so that no crash forgets it. */
function noteDeletion(
  domain: Domain,
  caller: Caller,
  scope: Scope,
  ids: readonly string[],
  at: number,
): void {
  if (!keepsBytes(domain)) return;
  domain.tombstoneBlobs.add(caller.account.accountId, scope, ids, at);
}

/** Blobs that other memories need: equal bytes that a client encrypted itself may share one. */
async function sharedBlobs(
  domain: Domain,
  scope: Scope,
  gone: readonly Gone[],
): Promise<Set<string>> {
  const ids = new Set(gone.map((memory) => memory.id));
  // A job may just have been given the blob by the store, and not have linked it yet.
  const unfinished = new Set<number | undefined>();
  for (const { job } of domain.jobs.liveIn(scope)) {
    if (job.source === "manual" && !ids.has(job.memoryId)) unfinished.add(job.bytes);
  }
  const mayShare = ({ source, bytes }: Gone) =>
    source === "manual" && (unfinished.has(bytes) || bytes === undefined && unfinished.size > 0);
  return await domain.index.read(scope, (loaded) => {
    const shared = new Set<string>();
    for (const memory of gone) {
      const { blobId } = memory;
      if (blobId === undefined) continue;
      const needed = loaded.countBlob(blobId) > 0 &&
        loaded.entries().some((other) =>
          other.blobId === blobId && !ids.has(other.id) &&
          !domain.tombstones.isDeleted(scope, other.id)
        );
      if (needed || mayShare(memory)) shared.add(blobId);
    }
    return shared;
  });
}

/** Ends the unfinished jobs of deleted memories; a running one undoes its own effects. */
async function cancel(domain: Domain, jobs: readonly LiveJob[]): Promise<void> {
  for (const live of jobs) live.cancelled = true;
  await Promise.all(jobs.map(async (live) => {
    await nameBlob(domain, live);
    await domain.jobs.end(live, { state: "failed", errorCode: "deleted" });
  }));
}

/** Ends the job of a deleted memory and removes whatever it left behind. */
export async function undoJob(domain: Domain, live: LiveJob): Promise<void> {
  const { owner, namespace, memoryId, source, bytes } = live.job;
  const scope: Scope = { owner, namespace };
  await cancel(domain, [live]);
  const gone = { id: memoryId, source, bytes, blobId: live.blobId };
  await removeMemories(domain, scope, [gone], { accountId: live.job.accountId });
  domain.tombstones.markApplied(scope, [memoryId]);
}

/** Cancels the jobs, removes the memories, and notes that this is finished where it is. */
async function apply(
  domain: Domain,
  scope: Scope,
  memories: readonly Gone[],
  live: readonly LiveJob[],
): Promise<Map<string, BlobFate>> {
  const running = new Set(live.filter((job) => job.state !== "pending").map((l) => l.job.memoryId));
  await cancel(domain, live);
  const unsure = live.filter(({ mayBeStored, blobId }) => mayBeStored && blobId === undefined);
  const mayUpload = new Set(unsure.map((job) => job.job.memoryId));
  const fates = await removeMemories(domain, scope, memories, { mayUpload });
  // A running job notes it when its effects are undone; after a crash the next start does.
  const ids = memories.map((memory) => memory.id).filter((id) => !running.has(id));
  domain.tombstones.markApplied(scope, ids);
  return fates;
}

/**
 * Deletes a memory with all its versions and cancels its unfinished job.
 *
 * @throws {SvcError} `memory_not_found`, also for another owner's; `storage_unavailable`, and the
 * deletion is then finished by another call or the next start.
 */
export async function deleteMemory(domain: Domain, caller: Caller, id: string): Promise<BlobFate> {
  const { owner } = caller.account;
  const [entry] = await domain.vectorStore.get(owner, [id]);
  const live = domain.jobs.liveOf(owner).filter((item) => item.job.memoryId === id);
  const namespace = entry?.namespace ?? live[0]?.job.namespace;
  if (namespace === undefined) throw new SvcError("memory_not_found");
  const scope = scopeOf(caller, namespace);
  if (domain.tombstones.isDeleted(scope, id)) {
    const unfinished = domain.tombstones.unapplied().some((item) => item.id === id);
    if (entry === undefined || !unfinished) throw new SvcError("memory_not_found");
  }
  const at = domain.now();
  domain.tombstones.addTombstones(scope, [id], at);
  noteDeletion(domain, caller, scope, [id], at);
  const fates = await apply(domain, scope, [entry ?? { id }], live);
  return fates.get(id) ?? "none";
}

/**
 * Deletes every memory of a namespace and cancels its pending jobs.
 *
 * @returns how many memories it had, pending ones included.
 */
export async function forget(domain: Domain, caller: Caller, namespace: string): Promise<number> {
  const scope = scopeOf(caller, namespace);
  // In one turn, so that a memory is either seen here or accepted after the time noted.
  const { gone, live, at } = await domain.index.read(scope, (loaded) => {
    const live = domain.jobs.liveIn(scope);
    const found = new Map<string, Gone>();
    for (const { job: { memoryId: id, source, bytes } } of live) {
      found.set(id, { id, source, bytes });
    }
    for (const memory of loaded.entries()) found.set(memory.id, memory);
    const gone = [...found.values()].filter(({ id }) => !domain.tombstones.isDeleted(scope, id));
    const times = loaded.entries().map((memory) => memory.updatedAt);
    for (const { job } of live) times.push(job.acceptedAt);
    const at = times.reduce((latest, time) => Math.max(latest, time), domain.now());
    const ids = gone.map(({ id }) => id);
    // Blobs that are not indexed have no id here: the time covers them.
    domain.tombstones.forgetNamespace(scope, at);
    // By id as well: times of machines whose clocks differ say little about each other.
    noteDeletion(domain, caller, scope, ["", ...ids], at);
    domain.tombstones.addTombstones(scope, ids, at);
    return { gone, live, at };
  });
  await apply(domain, scope, gone, live);
  await removeUnindexed(domain, scope, at);
  tombstoneSenderOf(domain).notify();
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
  const scopes = Map.groupBy(
    domain.tombstones.unapplied(),
    ({ owner, namespace }) => `${owner}\n${namespace}`,
  );
  for (const tombstones of scopes.values()) {
    const [first] = tombstones;
    if (first === undefined) continue;
    const scope: Scope = { owner: first.owner, namespace: first.namespace };
    const ids = new Set(tombstones.map(({ id }) => id));
    await cancel(
      domain,
      domain.jobs.liveIn(scope).filter((live) => ids.has(live.job.memoryId)),
    );
    const gone = new Map<string, Gone>([...ids].map((id) => [id, { id }]));
    for (const entry of await domain.vectorStore.get(scope.owner, [...ids])) {
      if (entry.namespace === scope.namespace) gone.set(entry.id, entry);
    }
    await removeMemories(domain, scope, [...gone.values()], { mayUpload: ids });
    domain.tombstones.markApplied(scope, [...ids]);
  }
}

/** Deletes expired memories of a scope in the background. */
export function purgeExpired(domain: Domain, scope: Scope): void {
  void purge(domain, scope).catch((error) => {
    domain.logger.warn("purge_failed", { reason: SvcError.from(error).code });
  });
}

async function purge(domain: Domain, scope: Scope): Promise<void> {
  const now = domain.now();
  const expired: readonly IndexedMemory[] = await domain.index.read(
    scope,
    (loaded) => loaded.entries().filter((memory) => (memory.expiresAt ?? Infinity) <= now),
  );
  if (expired.length === 0) return;
  const ids = new Set(expired.map((memory) => memory.id));
  domain.tombstones.addTombstones(scope, [...ids], now);
  const live = domain.jobs.liveIn(scope).filter(({ job }) => ids.has(job.memoryId));
  await apply(domain, scope, expired, live);
}
