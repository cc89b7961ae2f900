import type { Uses } from "../parts.ts";
import { SvcError } from "../../errors.ts";
import type { Scope, Source } from "../../interfaces/mod.ts";
import { isBlobUnknown, mayBeStored } from "../../jobs/ended_jobs.ts";
import type { EndedJob, LiveJob } from "../../jobs/job.ts";
import { type Caller, isOpenTo, scopeOf } from "../caller.ts";
import {
  keepsBytes,
  nameBlob,
  nameEndedBlob,
  NAMING_MS,
  type StoringBlobs,
} from "../store_blob.ts";
import { entriesFor } from "../open.ts";
import { newestOf } from "../versions/newest.ts";
import { restatementsOf } from "./restatements.ts";

/** Every place that may hold something of a memory. */
export type Removing = Uses<{
  blobStore: "list" | "keptUntil";
  vectorStore: "get" | "delete";
  index: "read" | "remove";
  savedWords: "drop";
  jobs: "get" | "newestOf" | "liveIn" | "liveOf" | "end" | "heldIn" | "heldOf" | "discard";
  worker: "isWorkingOn";
  tombstones: true;
  versions: "has" | "of" | "idsIn" | "latest" | "remove";
  copies: "remove";
  tombstoneBlobs: "add" | "remove";
  tombstoneSender: "notify";
  rowWrites: "isUnderWay" | "in" | "removed";
  owners: "settled" | "holdOwn";
  now: true;
}, StoringBlobs>;

/** What a deletion did. */
interface Deleted {
  readonly namespace: string;
  readonly blob: BlobFate;
  /** Ids of memories that said the same and went along. */
  readonly restatements: readonly string[];
}

/** What became of a deleted memory's blob. */
type BlobFate = "deleted" | "retained" | "none";

/** A memory whose tombstone is written. */
export interface Gone {
  readonly id: string;
  readonly source?: Source;
  /** Its blob, when known. */
  readonly blobId?: string | undefined;
  /** Size of the blob of a manual memory in bytes, when known. */
  readonly bytes?: number | undefined;
  /** Its version, when known. */
  readonly version?: number;
}

/** What an unfinished job knows of its memory. */
export function goneOf({ job: { memoryId: id, source, bytes } }: LiveJob): Gone {
  return { id, source, bytes };
}

interface Removal {
  /** Account object id, where what the blob store keeps may not be noted yet. */
  readonly accountId?: string;
  /** Memories that may have been uploaded although no blob of theirs is known. */
  readonly mayUpload?: ReadonlySet<string>;
  /** More blobs of these memories, which their jobs know. */
  readonly blobs?: readonly Gone[];
  /** Longest wait for the store to name a blob, milliseconds. */
  readonly namingMs?: number | undefined;
}

/** What a removal did. */
interface Removed {
  readonly fates: Map<string, BlobFate>;
  /** Memories with a blob that could not be named now: their removal is not finished. */
  readonly unnamed: ReadonlySet<string>;
}

/**
 * Removes memories whose tombstones are written: from index, blob store and vector store, and what
 * their jobs left. The row goes after the blob, because it is what names the blob when a crash
 * comes between.
 */
export async function removeMemories(
  domain: Removing,
  scope: Scope,
  memories: readonly Gone[],
  { accountId, mayUpload = new Set(), blobs = [], namingMs = NAMING_MS.deletion }: Removal = {},
): Promise<Removed> {
  const ids = memories.map((memory) => memory.id);
  const { versions, jobs } = domain;
  // What is removed without a lasting tombstone could come back.
  await domain.owners.settled(scope.owner);
  const rows = memories.flatMap(({ id }) => versions.of(scope, id, true));
  const held = (await Promise.all(ids.map((id) => jobs.heldOf(scope, id)))).flat();
  // A job that was given up may have stored its blob all the same.
  const unsure = new Set(mayUpload);
  for (const job of held) if (mayBeStored(job)) unsure.add(job.memoryId);
  const { found, unnamed } = keepsBytes(domain)
    ? { found: [], unnamed: new Set<string>() }
    : await nameHeld(domain, held.filter(mayBeStored), namingMs);
  const known = await Promise.all([
    ...memories.map((memory) => ({ jobId: memory.id, gone: memory })),
    ...rows.map(({ id, jobId, blobId }) => ({
      jobId,
      gone: { id, blobId, source: "remember" as const },
    })),
  ].map(async ({ jobId, gone }): Promise<Gone> =>
    gone.blobId === undefined
      ? { ...gone, blobId: (await jobs.get(jobId, scope.owner))?.blobId }
      : gone
  ));
  const named = distinct([
    ...known,
    ...blobs,
    ...found,
    ...held.map(({ memoryId: id, blobId, source, bytes }) => ({ id, blobId, source, bytes })),
  ]);
  domain.index.remove(scope, ids);
  // After the index, so that nobody writes its words again.
  await domain.savedWords.drop(scope);
  const fates = await removeBlobs(domain, scope, named);
  await noteKept(domain, scope, named, fates);
  noteUnsure(domain, scope, fates, unsure);
  noteStored(domain, scope, fates, accountId, unsure);
  await domain.vectorStore.delete(scope, ids);
  domain.rowWrites.removed(scope, ids);
  // Again: a scope loaded meanwhile may have read the rows, and written its words.
  domain.index.remove(scope, ids);
  await domain.savedWords.drop(scope);
  // What leads to a blob without a name stays until it has one.
  await jobs.discard(scope, ids, unnamed);
  versions.remove(scope, ids);
  domain.copies.remove(scope.owner, ids);
  for (const id of unnamed) fates.set(id, "retained");
  return { fates, unnamed };
}

/** Finds out blobs that ended jobs may have stored, where a deletion is to leave nothing. */
async function nameHeld(domain: Removing, jobs: readonly EndedJob[], ms: number) {
  const found: Gone[] = [];
  const unnamed = new Set<string>();
  await Promise.all(jobs.map(async (job) => {
    const { memoryId: id, source, bytes } = job;
    const blobId = await nameEndedBlob(domain, job, ms);
    if (blobId === undefined) unnamed.add(id);
    else found.push({ id, blobId, source, bytes });
  }));
  return { found, unnamed };
}

/** Each blob of each memory once; a memory without one, where it has none. */
function distinct(gone: readonly Gone[]): Gone[] {
  return [...new Map(gone.map((one) => [`${one.id} ${one.blobId}`, one])).values()];
}

/** Notes for receipts that a blob may be somewhere which nobody could name. */
function noteUnsure(
  domain: Removing,
  scope: Scope,
  fates: ReadonlyMap<string, BlobFate>,
  unsure: ReadonlySet<string>,
): void {
  if (!keepsBytes(domain)) return;
  for (const id of unsure) {
    if (fates.get(id) === "none") domain.tombstones.noteKept(scope, id, undefined);
  }
}

/** Notes for receipts which blobs stay, and until when. */
async function noteKept(
  { blobStore, tombstones }: Removing,
  scope: Scope,
  gone: readonly Gone[],
  fates: ReadonlyMap<string, BlobFate>,
): Promise<void> {
  const kept = gone.filter(({ id, blobId }) => blobId && fates.get(id) === "retained");
  for (const [id, blobs] of Map.groupBy(kept, (memory) => memory.id)) {
    const ends = await Promise.all(blobs.map(async ({ blobId = "" }) => {
      const until = await blobStore.keptUntil?.(blobId, scope).catch(() => undefined);
      return until ?? Infinity;
    }));
    const last = Math.max(...ends);
    tombstones.noteKept(scope, id, last < Infinity ? last : undefined);
  }
}

/**
 * Keeps tombstones for deleted memories that were stored, also where the store says that the blob is
 * gone: another relayer may have renewed or moved it. Drops those of memories never stored.
 */
function noteStored(
  domain: Removing,
  scope: Scope,
  fates: ReadonlyMap<string, BlobFate>,
  accountId: string | undefined,
  mayUpload: ReadonlySet<string>,
): void {
  if (!keepsBytes(domain)) return;
  const stored: string[] = [];
  const unstored: string[] = [];
  for (const [id, fate] of fates) {
    if (fate !== "none") stored.push(id);
    else if (!mayUpload.has(id)) unstored.push(id);
  }
  domain.tombstoneBlobs.remove(scope, unstored);
  if (accountId !== undefined) domain.tombstoneBlobs.add(accountId, scope, stored, domain.now());
  domain.tombstoneSender.notify();
}

/** Notes deletions for the blob store before anything is removed, so that no crash forgets them. */
export function noteDeletion(
  domain: Removing,
  caller: Caller,
  scope: Scope,
  ids: readonly string[],
  at: number,
): void {
  if (!keepsBytes(domain)) return;
  domain.tombstoneBlobs.add(caller.account.accountId, scope, ids, at);
}

/** What became of a memory's blobs together: one that is left counts. */
function joined(one: BlobFate | undefined, other: BlobFate): BlobFate {
  if (one === "retained" || other === "retained") return "retained";
  return one === "deleted" ? one : other;
}

/** Deletes the blobs of memories, except those that another memory needs. */
async function removeBlobs(
  { blobStore, index, jobs, tombstones }: Removing,
  scope: Scope,
  gone: readonly Gone[],
): Promise<Map<string, BlobFate>> {
  const ids = new Set(gone.map((memory) => memory.id));
  return await index.read(scope, async (loaded) => {
    const fates = new Map<string, BlobFate>();
    for (const { id, blobId, source = "manual", bytes } of gone) {
      const isShared = blobId !== undefined && loaded.countBlob(blobId) > 0 &&
        loaded.entries().some((other) =>
          other.blobId === blobId && !ids.has(other.id) && !tombstones.isDeleted(scope, other.id)
        );
      const isAwaited = source === "manual" && isManualUnderWay(jobs.liveIn(scope), bytes, ids);
      let fate: BlobFate = "retained";
      if (blobId === undefined) fate = "none";
      else if (blobStore.delete !== undefined && !isShared && !isAwaited) {
        fate = await blobStore.delete(blobId, scope) ? "deleted" : "retained";
      }
      fates.set(id, joined(fates.get(id), fate));
    }
    return fates;
  });
}

/**
 * Whether a client's own ciphertext of this size is being stored: equal bytes may share a blob, and
 * its job may have been given that blob without having linked it yet.
 */
export function isManualUnderWay(
  live: readonly LiveJob[],
  bytes: number | undefined,
  except: ReadonlySet<string>,
): boolean {
  return live.some(({ job }) =>
    job.source === "manual" && !except.has(job.memoryId) &&
    (bytes === undefined || job.bytes === bytes)
  );
}

/** Ends the unfinished jobs of deleted memories; a running one undoes its own effects. */
export async function cancel(domain: Removing, jobs: readonly LiveJob[]): Promise<void> {
  for (const live of jobs) live.cancelled = true;
  await Promise.all(jobs.map(async (live) => {
    await nameBlob(domain, live);
    await domain.jobs.end(live, { state: "failed", errorCode: "deleted" });
  }));
}

/** Ends the running job of a deleted memory and removes whatever it left behind. */
export async function undoJob(domain: Removing, live: LiveJob): Promise<void> {
  const { owner, namespace, memoryId } = live.job;
  const scope: Scope = { owner, namespace };
  await cancel(domain, [live]);
  const gone = { ...goneOf(live), blobId: live.blobId };
  const { accountId } = live.job;
  const { unnamed } = await removeMemories(domain, scope, [gone], { accountId });
  // Another version's job may be about to write its row: it comes here too.
  const isOver = !unnamed.has(memoryId) && !isWorkedOn(domain, scope, memoryId, 1);
  if (isOver) domain.tombstones.markApplied(scope, [memoryId]);
}

/**
 * Whether somebody may write a row of a memory now, who looks for its tombstone afterwards: a
 * restore, or more than so many jobs.
 */
export function isWorkedOn(
  { worker, rowWrites }: Pick<Removing, "worker" | "rowWrites">,
  scope: Scope,
  id: string,
  jobs = 0,
): boolean {
  return worker.isWorkingOn(scope.owner, id, jobs) || rowWrites.isUnderWay(scope, id);
}

/** Cancels the jobs, removes the memories, and marks finished deletions. */
export async function applyDeletion(
  domain: Removing,
  scope: Scope,
  memories: readonly Gone[],
  live: readonly LiveJob[],
): Promise<Map<string, BlobFate>> {
  const ids = memories.map((memory) => memory.id);
  const running = new Set(ids.filter((id) => isWorkedOn(domain, scope, id)));
  await cancel(domain, live);
  const unsure = live.filter(isBlobUnknown);
  const mayUpload = new Set(unsure.map((job) => job.job.memoryId));
  const blobs = live.filter(({ blobId }) => blobId !== undefined)
    .map((item) => ({ ...goneOf(item), blobId: item.blobId }));
  const { fates, unnamed } = await removeMemories(domain, scope, memories, { mayUpload, blobs });
  // A running job notes it when its effects are undone; else the upkeep does, or the next start.
  const finished = ids.filter((id) => !running.has(id) && !unnamed.has(id));
  domain.tombstones.markApplied(scope, finished);
  return fates;
}

/**
 * Deletes a memory with all its versions and cancels its unfinished job. What says the same, and was
 * kept behind it, goes along: whoever deletes a fact does not want to find it in other words.
 *
 * @param expectedVersion Refuses to when the newest version, also one that is not recallable yet, is
 * another one.
 * @throws {SvcError} `memory_not_found`, also for another owner's; `version_conflict`;
 * `storage_unavailable`, and the deletion is then finished by another call, the upkeep or the next
 * start.
 */
export async function deleteMemory(
  domain: Removing,
  caller: Caller,
  id: string,
  expectedVersion?: number,
): Promise<Deleted> {
  const { owner } = caller.account;
  const newest = expectedVersion === undefined ? undefined : await newestOf(domain, caller, id);
  const entry = newest === undefined ? (await entriesFor(domain, caller, [id]))[0] : newest.entry;
  const jobs = domain.jobs.liveOf(owner).filter(({ job }) =>
    job.memoryId === id && isOpenTo(caller, job.namespace)
  );
  const namespace = entry?.namespace ?? jobs[0]?.job.namespace;
  if (namespace === undefined) throw new SvcError("memory_not_found");
  const scope = scopeOf(caller, namespace);
  if (domain.tombstones.isDeleted(scope, id)) {
    const unfinished = domain.tombstones.unapplied().some((item) => item.id === id);
    if (entry === undefined || !unfinished) throw new SvcError("memory_not_found");
  }
  const at = domain.now();
  const note = (ids: readonly string[]) => {
    // No number is taken between this look and the tombstone.
    const isOvertaken = newest && domain.versions.latest(scope, id) > newest.taken;
    const isExpected = newest === undefined || newest.version === expectedVersion;
    if (isOvertaken || !isExpected) throw new SvcError("version_conflict");
    domain.tombstones.addTombstones(scope, ids, at);
    noteDeletion(domain, caller, scope, ids, at);
  };
  // At once, so that no crash leaves the one without the other; in one turn, so that a correction of
  // one of them is either seen here or refused.
  const noted = domain.index.read(scope, (loaded) => {
    const found = restatementsOf(domain, loaded, id);
    note([id, ...found.map((memory) => memory.id)]);
    return found;
  });
  const restating = await noted.catch((error) => {
    // What cannot be loaded is hidden all the same.
    if (SvcError.from(error).code !== "version_conflict") note([id]);
    throw error;
  });
  const restatements = restating.map((memory) => memory.id);
  // What was written until then is known now.
  const rows = await entriesFor(domain, caller, [id]);
  const written = rows.find((row) => row.namespace === namespace) ?? entry;
  const live = domain.jobs.liveIn(scope).filter(({ job }) => job.memoryId === id);
  const gone = [written ?? goneOf(jobs[0]!), ...restating];
  const their = domain.jobs.liveIn(scope).filter(({ job }) => restatements.includes(job.memoryId));
  const fates = await applyDeletion(domain, scope, gone, [...live, ...their]);
  return { namespace, blob: fates.get(id) ?? "none", restatements };
}
