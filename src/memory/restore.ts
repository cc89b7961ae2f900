import type { IndexEntry, Scope } from "../interfaces/mod.ts";
import { INLINE_BYTES } from "../jobs/staging.ts";
import { type Caller, type Domain, scopeOf } from "./domain.ts";
import { type BlobContent, decodeBlob, decodeRecord, type MemoryRecord } from "./record.ts";

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

/** Whether a record was deleted or forgotten through this relayer. */
function isGone(domain: Domain, scope: Scope, record: MemoryRecord): boolean {
  const forgotten = domain.tombstones.forgottenAt(scope) ?? -Infinity;
  const expires = record.expires_at === undefined ? Infinity : Date.parse(record.expires_at);
  return domain.tombstones.isDeleted(scope, record.id) ||
    Date.parse(record.updated_at) <= forgotten || expires <= domain.now();
}

/** Fetches and opens blobs; what cannot be opened is left out. */
async function fetchBlobs(
  domain: Domain,
  caller: Caller,
  scope: Scope,
  blobIds: readonly string[],
): Promise<Found[]> {
  const contents = await Promise.all(blobIds.map(async (blobId) => {
    try {
      const bytes = await domain.blobStore.get(blobId, scope, { signal: caller.signal });
      return bytes === undefined ? undefined : decodeBlob(bytes);
    } catch {
      return undefined; // Counted as failed; the next restore tries again.
    }
  }));
  const items = contents.flatMap((content, i) =>
    content === undefined ? [] : [{ blobId: blobIds[i] ?? "", content }]
  );
  const opened = await domain.cipher.open(items.map((item) => item.content), {
    ...scope,
    accountId: caller.account.accountId,
    ...(caller.credential === undefined ? {} : { credential: caller.credential }),
    signal: caller.signal,
  });
  return items.flatMap((item, i): Found[] => {
    const result = opened[i];
    if (result?.status !== "fulfilled") return [];
    try {
      const record = decodeRecord(result.value);
      return record.id === item.content.memoryId ? [{ ...item, record }] : [];
    } catch {
      return [];
    }
  });
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

/**
 * Indexes memories of a namespace that are in the blob store but not in the index, newest first.
 * Never deletes; repeating it, also at the same time, is harmless.
 *
 * @param limit most blobs to work on; 0 counts only.
 * @throws {SvcError} `storage_unavailable`, `embedding_unavailable`.
 */
export async function restore(
  domain: Domain,
  caller: Caller,
  namespace: string,
  limit: number,
): Promise<RestoreCounts> {
  const scope = scopeOf(caller, namespace);
  // Blobs of jobs that are still running are linked by them.
  await domain.jobs.settle(scope, domain.config.recallWaitMs);
  const blobIds: string[] = [];
  for await (const { blobId } of domain.blobStore.list(scope, { signal: caller.signal })) {
    blobIds.push(blobId);
  }
  const known = new Map<string, number>();
  const missing = await domain.index.read(scope, (loaded) => {
    for (const memory of loaded.entries()) known.set(memory.id, memory.version);
    return blobIds.filter((blobId) => !loaded.hasBlob(blobId));
  });
  const total = blobIds.length;
  let skipped = total - missing.length;
  const work = missing.slice(0, limit);
  for (const live of domain.jobs.liveIn(scope)) known.set(live.job.memoryId, live.job.version);
  let restored = 0;
  let failed = 0;
  for (let i = 0; i < work.length; i += BATCH) {
    const part = work.slice(i, i + BATCH);
    const found = await fetchBlobs(domain, caller, scope, part);
    failed += part.length - found.length;
    const wanted = found.filter((item) =>
      (known.get(item.record.id) ?? 0) < item.record.version && !isGone(domain, scope, item.record)
    );
    skipped += found.length - wanted.length;
    if (wanted.length === 0) continue;
    const vectors = await domain.embedder.embed(wanted.map((item) => item.record.text), {
      purpose: "document",
      signal: caller.signal,
    });
    const entries = wanted.map((item, n) => entryOf(scope, item, vectors[n] ?? []));
    await domain.vectorStore.upsert(entries, { signal: caller.signal });
    const kept = entries.filter((entry) => !domain.tombstones.isDeleted(scope, entry.id));
    const undone = entries.filter((entry) => !kept.includes(entry)).map((entry) => entry.id);
    if (undone.length > 0) await domain.vectorStore.delete(scope, undone);
    domain.index.apply(kept);
    for (const entry of kept) known.set(entry.id, entry.version);
    restored += kept.length;
    skipped += undone.length;
  }
  return { restored, skipped, failed, remaining: missing.length - work.length, total };
}
