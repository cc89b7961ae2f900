import type { Uses } from "./parts.ts";
import type { BlobLink, BlobMove, IndexEntry, Scope } from "../interfaces/mod.ts";
import { isWorkedOn, removeMemories, type Removing } from "./remove/remove.ts";
import { decodeTombstone, type TombstoneRecord } from "./remove/tombstones.ts";
import { type Linking, linkMoved } from "./upkeep/blob_moves.ts";
import { SvcError } from "../errors.ts";
import { scopeKey } from "../interfaces/scope_key.ts";
import { INLINE_BYTES } from "../jobs/staging.ts";
import { type Caller, checkOpenTo, scopeOf } from "./caller.ts";
import { isCredentialError, requireCredential, settled } from "./open.ts";
import type { Settling } from "./recall/recall.ts";
import { type BlobContent, decodeBlob, decodeRecord, type MemoryRecord } from "./record.ts";
import { type Digesting, standingOfRecord } from "./standing.ts";
import { noteBlob, noteReplaced, type Versioning } from "./versions/history.ts";
import { documentVectors } from "./vectors.ts";

interface FoundTombstone {
  readonly blobId: string;
  /** When it was stored as far as the store tells, milliseconds since the epoch. */
  readonly storedAt: number | undefined;
  readonly record: TombstoneRecord;
}

/**
 * Until when a namespace was forgotten. Never later than the tombstone itself: a clock that went
 * ahead must not take what was stored after it.
 */
function forgottenUntil({ record, storedAt }: FoundTombstone, now: number): number {
  if (record.forgotten_until === undefined) return -Infinity;
  return Math.min(Date.parse(record.forgotten_until), storedAt ?? now, now);
}

/**
 * Takes over deletions that were made through another relayer: what they name is not restored, and
 * leaves the index where it was restored before.
 *
 * @returns ids of the memories that were indexed and are removed.
 */
async function applyTombstones(
  domain: Removing & Pick<Linking, "tombstoneBlobs">,
  scope: Scope,
  found: readonly FoundTombstone[],
): Promise<ReadonlySet<string>> {
  if (found.length === 0) return new Set();
  const now = domain.now();
  const ids = new Set(found.flatMap(({ record }) => record.deleted));
  const until = Math.max(-Infinity, ...found.map((tombstone) => forgottenUntil(tombstone, now)));
  const gone = await domain.index.read(scope, (loaded) => {
    if (until > -Infinity) domain.tombstones.forgetNamespace(scope, until);
    const memories = loaded.entries().filter(({ id, updatedAt }) =>
      ids.has(id) || updatedAt <= until
    );
    for (const { id } of memories) ids.add(id);
    domain.tombstones.addTombstones(scope, [...ids], now);
    return memories;
  });
  const { unnamed } = await removeMemories(domain, scope, gone);
  const finished = [...ids].filter((id) => !unnamed.has(id) && !isWorkedOn(domain, scope, id));
  domain.tombstones.markApplied(scope, finished);
  for (const { blobId } of found) domain.tombstoneBlobs.sent(scope, blobId);
  return new Set(gone.map(({ id }) => id));
}

/** What a restore takes; it also removes memories that another relayer's tombstones name. */
type Restoring = Uses<{
  blobStore: "get" | "watchMoves";
  cipher: "open" | "needsCredential";
  embedder: true;
  vectorStore: "upsert";
  index: "apply";
  expiries: "note";
  restores: "hold";
  rowWrites: "hold";
  versions: "blobsIn";
}, Removing & Settling & Linking & Versioning & Digesting>;

/** Blobs fetched, opened and embedded together. */
const BATCH = 16;

/** What a restore did; total = restored + skipped + failed + remaining. */
interface RestoreCounts {
  /** Memories indexed by this call. */
  readonly restored: number;
  /** Blobs whose memory is indexed already, or was deleted or superseded here. */
  readonly skipped: number;
  /** Blobs that could not be fetched or opened. */
  readonly failed: number;
  /** Blobs left for another call. */
  readonly remaining: number;
  readonly total: number;
}

interface Found {
  readonly blobId: string;
  readonly content: BlobContent;
  readonly record: MemoryRecord;
}

interface Fetched {
  readonly found: Found[];
  /** Tombstones with the blob each was found in. */
  readonly tombstones: FoundTombstone[];
  /** Blobs that may be readable another time. */
  readonly unreachable: number;
}

/** `version byte | key id (16) | …`: the key that sealed a record. */
function keyIdOf(record: Uint8Array): string {
  return record.subarray(1, 17).toHex();
}

function entryOf(
  domain: Digesting,
  scope: Scope,
  found: Found,
  vectors: readonly Float32Array[],
): IndexEntry {
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
    standing: standingOfRecord(domain, scope, record),
  };
}

/**
 * Indexes memories of a namespace that are in the blob store but not in the index, newest first, and
 * links blobs of indexed ones that have none, or had one that moved.
 * Never deletes; repeating it is harmless. Restores of one scope run one after the other, so that
 * each counts what it did itself.
 *
 * @param limit most memories to index; 0 counts only. Blobs that cannot be fetched use it up as
 * well; those that hold no record, or a deleted one, do not: every call meets them again.
 * @throws {SvcError} `permission_denied` for a key of other namespaces; `storage_unavailable`,
 * `embedding_unavailable`, `decrypt_credential_required`, `decrypt_credential_invalid`.
 */
export async function restore(
  domain: Restoring,
  caller: Caller,
  namespace: string,
  limit: number,
): Promise<RestoreCounts> {
  checkOpenTo(caller, namespace);
  requireCredential(domain, caller);
  const scope = scopeOf(caller, namespace);
  return await domain.restores.hold(
    scopeKey(scope),
    () => new Restore(domain, caller, scope).run(limit),
  );
}

class Restore {
  readonly #domain: Restoring;
  readonly #caller: Caller;
  readonly #scope: Scope;
  /** Versions of the memories that are indexed, or on their way into the index. */
  readonly #known = new Map<string, number>();
  /**
   * Versions of those whose blob is not known or not listed: a job may have failed after storing it,
   * and one that moved may have been moved by another relayer, which tells nobody else.
   */
  readonly #unlinked = new Map<string, number>();
  /** When blobs were stored, by id, as far as the store tells; milliseconds since the epoch. */
  readonly #storedAt = new Map<string, number>();
  readonly #restored = new Set<string>();
  #count = 0;

  constructor(domain: Restoring, caller: Caller, scope: Scope) {
    this.#domain = domain;
    this.#caller = caller;
    this.#scope = scope;
  }

  async run(limit: number): Promise<RestoreCounts> {
    const { jobs, worker, config, reembedding, blobStore } = this.#domain;
    // Blobs of jobs that are still running are linked by them.
    worker.expedite(this.#scope);
    await jobs.settle(this.#scope, config.recallWaitMs);
    // What is indexed with vectors of another model counts as indexed; its turn comes now.
    await reembedding.hurry(this.#scope, this.#caller, 0);
    // Nobody else links a move reported before its memory is indexed.
    const moves: BlobMove[] = [];
    using _watch = blobStore.watchMoves?.((told) => {
      moves.push(...told.filter((move) => scopeKey(move) === scopeKey(this.#scope)));
      return Promise.resolve();
    });
    const listed = await this.#list();
    const missing = await this.#missing(listed);
    let [worked, used, failed] = [0, 0, 0];
    while (worked < missing.length && used < limit) {
      const part = missing.slice(worked, worked + Math.min(BATCH, limit - used));
      worked += part.length;
      const { found, tombstones, unreachable } = await this.#fetch(part);
      failed += part.length - found.length - tombstones.length;
      for (const id of await applyTombstones(this.#domain, this.#scope, tombstones)) {
        if (this.#restored.delete(id)) this.#count--;
      }
      await this.#relink(found);
      const wanted = found.filter(({ record }) => {
        if ((this.#known.get(record.id) ?? 0) >= record.version) return false;
        this.#known.set(record.id, record.version);
        return !this.#isGone(record);
      });
      used += unreachable + wanted.length;
      await this.#index(wanted);
      await this.#noteHistory(found);
      await linkMoved(this.#domain, moves);
    }
    const restored = this.#count;
    const remaining = missing.length - worked;
    const total = listed.length;
    return { restored, skipped: total - restored - failed - remaining, failed, remaining, total };
  }

  async #list(): Promise<string[]> {
    const { signal } = this.#caller;
    const blobIds: string[] = [];
    for await (const blob of this.#domain.blobStore.list(this.#scope, { signal })) {
      const { blobId, createdAt } = blob;
      blobIds.push(blobId);
      if (createdAt !== undefined) this.#storedAt.set(blobId, createdAt);
    }
    return blobIds;
  }

  /** Listed blobs that no memory refers to; notes the memories that are there. */
  async #missing(blobIds: readonly string[]): Promise<string[]> {
    const { index, jobs, tombstoneBlobs, versions } = this.#domain;
    const listed = new Set(blobIds);
    const replaced = versions.blobsIn(this.#scope);
    const missing = await index.read(this.#scope, (loaded) => {
      for (const { id, version, blobId } of loaded.entries()) {
        this.#known.set(id, version);
        if (blobId === undefined || !listed.has(blobId)) this.#unlinked.set(id, version);
      }
      const isReplaced = (blobId: string): boolean => {
        const { id, version = 0 } = replaced.get(blobId) ?? {};
        return id !== undefined && (loaded.get(id)?.version ?? 0) > version;
      };
      return blobIds.filter((blobId) =>
        !loaded.hasBlob(blobId) && !isReplaced(blobId) &&
        !tombstoneBlobs.isTombstone(this.#scope, blobId)
      );
    });
    for (const { job, recallable } of jobs.liveIn(this.#scope)) {
      const { memoryId: id, version } = job;
      this.#unlinked.delete(id);
      // Until a replacement is recallable the version before it is to be found.
      const counts = version === 1 || recallable;
      if (counts) this.#known.set(id, Math.max(version, this.#known.get(id) ?? 0));
    }
    return missing;
  }

  /** Fetches and opens blobs; counts those that may be readable another time. */
  async #fetch(blobIds: readonly string[]): Promise<Fetched> {
    const { blobStore, cipher } = this.#domain;
    const { account: { accountId }, credential, signal } = this.#caller;
    let unreachable = 0;
    const items: { blobId: string; content: BlobContent }[] = [];
    const fetched = await Promise.allSettled(
      blobIds.map((blobId) => blobStore.get(blobId, this.#scope, { signal })),
    );
    for (const [i, result] of fetched.entries()) {
      const bytes = result.status === "fulfilled" ? result.value : undefined;
      const content = bytes === undefined ? undefined : decodeBlob(bytes);
      if (bytes === undefined) unreachable++;
      else if (content !== undefined) items.push({ blobId: blobIds[i] ?? "", content });
    }
    const context = { ...this.#scope, accountId, signal };
    const opened = await cipher.open(
      items.map((item) => item.content),
      credential === undefined ? context : { ...context, credential },
    );
    const found: Found[] = [];
    const tombstones: FoundTombstone[] = [];
    for (const [i, item] of items.entries()) {
      try {
        const plain = settled(opened[i]);
        const tombstone = decodeTombstone(plain);
        if (tombstone?.id === item.content.memoryId) {
          const { blobId } = item;
          tombstones.push({ blobId, storedAt: this.#storedAt.get(blobId), record: tombstone });
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

  /** Links indexed memories whose blob is unknown or gone to the newest blob that was found. */
  async #relink(found: readonly Found[]): Promise<void> {
    const links: BlobLink[] = [];
    for (const { blobId, record: { id, version } } of found) {
      if (this.#unlinked.get(id) !== version) continue;
      this.#unlinked.delete(id);
      links.push({ id, version, blobId });
    }
    if (links.length === 0) return;
    await this.#domain.vectorStore.link(this.#scope, links);
    this.#domain.index.applyLinks(this.#scope, links);
  }

  /** Embeds and indexes what was found, and notes what stayed. */
  async #index(found: readonly Found[]): Promise<void> {
    if (found.length === 0) return;
    const { embedder, expiries, vectorStore, index, rowWrites } = this.#domain;
    const { signal } = this.#caller;
    const texts = found.map((item) => item.record.text);
    const vectors = await documentVectors(embedder, texts, signal);
    const entries = found.map((item, n) => entryOf(this.#domain, this.#scope, item, vectors[n]!));
    await expiries.note(entries);
    await noteReplaced(this.#domain, this.#scope, entries);
    const present = () => entries.filter((_, n) => !this.#isGone(found[n]!.record));
    // From here on a deletion knows of the rows.
    await rowWrites.hold(this.#scope, entries, async () => {
      await vectorStore.upsert(entries, { signal });
      // Tombstones come first, so one that is not there now is applied by whoever writes it.
      const before = new Set(present());
      const undone = entries.filter((entry) => !before.has(entry)).map(({ id }) => id);
      if (undone.length > 0) await vectorStore.delete(this.#scope, undone);
      // Looked for again: what was deleted meanwhile has left the index already.
      const kept = present();
      index.apply(kept);
      for (const { id } of kept) this.#restored.add(id);
      this.#count += kept.length;
    });
  }

  /** Notes the blobs of versions that others have replaced, so that they are not fetched again. */
  async #noteHistory(found: readonly Found[]): Promise<void> {
    for (const { blobId, content, record } of found) {
      const { id, version, updated_at } = record;
      if (version >= (this.#known.get(id) ?? 0) || this.#isGone(record)) continue;
      const bytes = content.record.length;
      const updatedAt = Date.parse(updated_at);
      await noteBlob(this.#domain, this.#scope, { id, version, updatedAt, blobId, bytes });
    }
  }

  /** Whether a record was deleted or forgotten through this relayer, or has expired. */
  #isGone({ id, updated_at, expires_at }: MemoryRecord): boolean {
    const { tombstones, now } = this.#domain;
    const isExpired = expires_at !== undefined && Date.parse(expires_at) <= now();
    return isExpired || tombstones.isGone(this.#scope, id, Date.parse(updated_at));
  }
}
