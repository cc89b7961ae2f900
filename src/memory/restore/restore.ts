import { SvcError } from "../../errors.ts";
import type { BlobLink, BlobMove, IndexEntry, Scope } from "../../interfaces/mod.ts";
import { INLINE_BYTES } from "../../jobs/staging.ts";
import { linkMoved } from "../upkeep/blob_moves.ts";
import { type Caller, scopeOf } from "../caller.ts";
import type { Domain } from "../domain.ts";
import { isCredentialError, requireCredential, settled } from "../open.ts";
import { type BlobContent, decodeBlob, decodeRecord, type MemoryRecord } from "../record.ts";
import { applyTombstones, type FoundTombstone } from "./restore_tombstones.ts";
import { decodeTombstone } from "../remove/tombstone_record.ts";
import { documentVectors } from "../vectors.ts";

/** Blobs fetched, opened and embedded together. */
const BATCH = 16;

/** What a restore did; total = restored + skipped + failed + remaining. */
export interface RestoreCounts {
  /** Memories indexed by this call. */
  readonly restored: number;
  /** Blobs whose memory is indexed already, or was deleted or superseded here. */
  readonly skipped: number;
  /** Blobs that could not be fetched or opened. */
  readonly failed: number;
  /** Blobs left for another call. */
  readonly remaining: number;
  /** Blobs found. */
  readonly total: number;
}

interface Found {
  readonly blobId: string;
  readonly content: BlobContent;
  readonly record: MemoryRecord;
}

/** What a part of the blobs holds. */
interface Fetched {
  readonly found: Found[];
  /** Tombstones with the blob each was found in. */
  readonly tombstones: FoundTombstone[];
  /** Blobs that may be readable another time. */
  readonly unreachable: number;
}

/** Whether a record was deleted or forgotten through this relayer. */
function isGone(domain: Domain, scope: Scope, record: MemoryRecord): boolean {
  const forgotten = domain.tombstones.forgottenAt(scope) ?? -Infinity;
  const expires = record.expires_at === undefined ? Infinity : Date.parse(record.expires_at);
  return domain.tombstones.isDeleted(scope, record.id) ||
    Date.parse(record.updated_at) <= forgotten || expires <= domain.now();
}

/** Fetches and opens blobs; counts those that may be readable another time. */
async function fetchBlobs(
  domain: Domain,
  caller: Caller,
  scope: Scope,
  blobIds: readonly string[],
  storedAt: ReadonlyMap<string, number>,
): Promise<Fetched> {
  let unreachable = 0;
  const items: { blobId: string; content: BlobContent }[] = [];
  const fetched = await Promise.allSettled(
    blobIds.map((blobId) => domain.blobStore.get(blobId, scope, { signal: caller.signal })),
  );
  for (const [i, result] of fetched.entries()) {
    const bytes = result.status === "fulfilled" ? result.value : undefined;
    const content = bytes === undefined ? undefined : decodeBlob(bytes);
    if (bytes === undefined) unreachable++;
    else if (content !== undefined) items.push({ blobId: blobIds[i] ?? "", content });
  }
  const opened = await domain.cipher.open(items.map((item) => item.content), {
    ...scope,
    accountId: caller.account.accountId,
    ...(caller.credential === undefined ? {} : { credential: caller.credential }),
    signal: caller.signal,
  });
  const found: Found[] = [];
  const tombstones: FoundTombstone[] = [];
  for (const [i, item] of items.entries()) {
    try {
      const plain = settled(opened[i]);
      const tombstone = decodeTombstone(plain);
      if (tombstone?.id === item.content.memoryId) {
        const { blobId } = item;
        tombstones.push({ blobId, storedAt: storedAt.get(blobId), record: tombstone });
        continue;
      }
      const record = decodeRecord(plain);
      if (record.id === item.content.memoryId) found.push({ ...item, record });
    } catch (thrown) {
      const error = SvcError.from(thrown);
      if (isCredentialError(error)) throw error;
      if (error.retryable) unreachable++;
    }
  }
  return { found, tombstones, unreachable };
}

/** `version byte | key id (16) | …`: the key that sealed a record. */
function keyIdOf(record: Uint8Array): string {
  return record.subarray(1, 17).toHex();
}

function entryOf(scope: Scope, found: Found, vectors: readonly Float32Array[]): IndexEntry {
  const { record, content, blobId } = found;
  return {
    ...scope,
    id: record.id,
    version: record.version,
    vectors,
    payload: content.record.length <= INLINE_BYTES ? content.record : new Uint8Array(),
    blobId,
    keyId: keyIdOf(content.record),
    createdAt: Date.parse(record.created_at),
    updatedAt: Date.parse(record.updated_at),
    importance: record.importance,
    source: record.source,
    bytes: content.record.length,
    ...(record.occurred_at === undefined ? {} : { occurredAt: Date.parse(record.occurred_at) }),
    ...(record.expires_at === undefined ? {} : { expiresAt: Date.parse(record.expires_at) }),
  };
}

/** Embeds and indexes what was found; answers the ids of the memories that stayed. */
async function indexFound(
  domain: Domain,
  scope: Scope,
  found: readonly Found[],
  signal: AbortSignal | undefined,
): Promise<string[]> {
  if (found.length === 0) return [];
  const texts = found.map((item) => item.record.text);
  const vectors = await documentVectors(domain.embedder, texts, signal);
  const entries = found.map((item, n) => entryOf(scope, item, vectors[n]!));
  await domain.expiries.note(entries);
  await domain.vectorStore.upsert(entries, { signal });
  // Tombstones come first, so one that is not there now is applied by whoever writes it.
  const kept = entries.filter((_, n) => found[n] && !isGone(domain, scope, found[n].record));
  const undone = entries.filter((entry) => !kept.includes(entry)).map((entry) => entry.id);
  if (undone.length > 0) await domain.vectorStore.delete(scope, undone);
  domain.index.apply(kept);
  return kept.map(({ id }) => id);
}

/** Gives indexed memories whose blob is not known, or is stored no longer, the newest of theirs. */
async function relink(
  domain: Domain,
  scope: Scope,
  found: readonly Found[],
  unlinked: Map<string, number>,
): Promise<void> {
  const links: BlobLink[] = [];
  for (const { blobId, record: { id, version } } of found) {
    if (unlinked.get(id) !== version) continue;
    unlinked.delete(id);
    links.push({ id, version, blobId });
  }
  if (links.length === 0) return;
  await domain.vectorStore.link(scope, links);
  domain.index.applyLinks(scope, links);
}

function isIn({ owner, namespace }: Scope, move: BlobMove): boolean {
  return move.owner === owner && move.namespace === namespace;
}

/**
 * Indexes memories of a namespace that are in the blob store but not in the index, newest first, and
 * links blobs of indexed ones that have none, or had one that moved.
 * Never deletes; repeating it is harmless. Restores of one scope run one after the other, so that
 * each counts what it did itself.
 *
 * @param limit most memories to index; 0 counts only. Blobs that cannot be fetched use it up as
 * well; those that hold no record, or a deleted one, do not: every call meets them again.
 * @throws {SvcError} `storage_unavailable`, `embedding_unavailable`, `decrypt_credential_required`,
 * `decrypt_credential_invalid`.
 */
export async function restore(
  domain: Domain,
  caller: Caller,
  namespace: string,
  limit: number,
): Promise<RestoreCounts> {
  requireCredential(domain, caller);
  const scope = scopeOf(caller, namespace);
  return await domain.restores.hold(scope, () => restoreScope(domain, caller, scope, limit));
}

async function restoreScope(
  domain: Domain,
  caller: Caller,
  scope: Scope,
  limit: number,
): Promise<RestoreCounts> {
  // Blobs of jobs that are still running are linked by them.
  domain.worker.expedite(scope);
  await domain.jobs.settle(scope, domain.config.recallWaitMs);
  // What is indexed with vectors of another model counts as indexed; its turn comes now.
  await domain.reembedding.hurry(scope, caller, 0);
  // A move that is told before its memory is indexed is linked by nobody else.
  const moves: BlobMove[] = [];
  using _watch = domain.blobStore.watchMoves?.((told) => {
    moves.push(...told.filter((move) => isIn(scope, move)));
    return Promise.resolve();
  });
  const blobIds: string[] = [];
  const storedAt = new Map<string, number>();
  for await (
    const { blobId, createdAt } of domain.blobStore.list(scope, { signal: caller.signal })
  ) {
    blobIds.push(blobId);
    if (createdAt !== undefined) storedAt.set(blobId, createdAt);
  }
  const listed = new Set(blobIds);
  const known = new Map<string, number>();
  // A job may have failed after storing a blob; one that moved may have been moved by another
  // relayer, which tells nobody else.
  const unlinked = new Map<string, number>();
  const missing = await domain.index.read(scope, (loaded) => {
    for (const { id, version, blobId } of loaded.entries()) {
      known.set(id, version);
      if (blobId === undefined || !listed.has(blobId)) unlinked.set(id, version);
    }
    return blobIds.filter((blobId) =>
      !loaded.hasBlob(blobId) && !domain.tombstoneBlobs.isTombstone(scope, blobId)
    );
  });
  for (const { job } of domain.jobs.liveIn(scope)) {
    known.set(job.memoryId, job.version);
    unlinked.delete(job.memoryId);
  }
  let [worked, used, restored, failed] = [0, 0, 0, 0];
  const restoredIds = new Set<string>();
  while (worked < missing.length && used < limit) {
    const part = missing.slice(worked, worked + Math.min(BATCH, limit - used));
    worked += part.length;
    const { found, tombstones, unreachable } = await fetchBlobs(
      domain,
      caller,
      scope,
      part,
      storedAt,
    );
    failed += part.length - found.length - tombstones.length;
    for (const id of await applyTombstones(domain, scope, tombstones)) {
      if (restoredIds.delete(id)) restored--;
    }
    await relink(domain, scope, found, unlinked);
    const wanted = found.filter(({ record }) => {
      if ((known.get(record.id) ?? 0) >= record.version) return false;
      known.set(record.id, record.version);
      return !isGone(domain, scope, record);
    });
    used += unreachable + wanted.length;
    const kept = await indexFound(domain, scope, wanted, caller.signal);
    await linkMoved(domain, moves);
    for (const id of kept) restoredIds.add(id);
    restored += kept.length;
  }
  const remaining = missing.length - worked;
  const total = blobIds.length;
  return { restored, skipped: total - restored - failed - remaining, failed, remaining, total };
}
