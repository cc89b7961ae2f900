import { SvcError } from "../../errors.ts";
import type { ScopeIndex } from "../../index/scope_index.ts";
import type { Embedder, IndexEntry, Scope, VectorStore } from "../../interfaces/mod.ts";
import type { JobStore } from "../../jobs/store.ts";
import type { TombstoneTable } from "../../storage/core/tombstone_table.ts";
import type { Caller } from "../caller.ts";
import { type Opening, openMemories } from "../open.ts";
import { storedEntries } from "../stored_entries.ts";
import { documentVectors } from "../vectors.ts";

/** Where memories are read, embedded and written anew. */
export type EmbeddingAnew = Opening & {
  readonly embedder: Embedder;
  readonly vectorStore: Pick<VectorStore, "upsert" | "delete">;
  readonly index: Pick<ScopeIndex, "apply">;
  readonly jobs: Pick<JobStore, "liveIn">;
  readonly tombstones: Pick<TombstoneTable, "isGone">;
};

/** What became of a part. */
export interface ReembeddedPart {
  /** Memories that have vectors of the present model now, or are gone. */
  readonly done: number;
  /** Memories to try again: their record cannot be read now, or their job is not finished. */
  readonly postponed: number;
  /** Ids of memories whose text cannot be opened or embedded at all. */
  readonly impossible: readonly string[];
}

type Vectors = readonly Float32Array[];

/**
 * The text of each memory that has one, and ids of those whose record is lost.
 * @throws {SvcError} when none of the records can be read for now.
 */
async function textsOf(domain: Opening, caller: Caller, part: readonly IndexEntry[]) {
  const { owner, namespace } = part[0]!;
  const opened = await openMemories(domain, caller, { owner, namespace }, part);
  const texts = new Map<string, string>();
  const impossible: string[] = [];
  const unreadable: SvcError[] = [];
  for (const [i, entry] of part.entries()) {
    const item = opened[i];
    if (item === undefined || "deleted" in item) continue;
    if ("record" in item) texts.set(entry.id, item.record.text);
    else if (item.error.retryable) unreadable.push(item.error);
    else impossible.push(entry.id);
  }
  const [first] = unreadable;
  if (first !== undefined && unreadable.length === part.length) throw first;
  return { texts, impossible, unreadable: unreadable.length };
}

/** The vectors of texts together; each for itself when one of them cannot be embedded. */
async function vectorsOf(
  embedder: Embedder,
  texts: ReadonlyMap<string, string>,
  signal: AbortSignal | undefined,
): Promise<{ made: Map<string, Vectors>; impossible: string[] }> {
  const made = new Map<string, Vectors>();
  const impossible: string[] = [];
  const embed = async (ids: readonly string[]) => {
    const batch = ids.map((id) => texts.get(id)!);
    const vectors = await documentVectors(embedder, batch, signal);
    for (const [i, id] of ids.entries()) made.set(id, vectors[i]!);
  };
  const ids = [...texts.keys()];
  try {
    if (ids.length > 0) await embed(ids);
  } catch (error) {
    if (SvcError.from(error).retryable || signal?.aborted) throw error;
    for (const id of ids) {
      try {
        await embed([id]);
      } catch (reason) {
        if (SvcError.from(reason).retryable || signal?.aborted) throw reason;
        impossible.push(id);
      }
    }
  }
  return { made, impossible };
}

/**
 * Writes vectors of the present model to memories of one scope.
 *
 * The rows are read again right before they are written, so that a blob that was linked meanwhile
 * stays linked; a memory whose job is not finished, or finishes while they are read, is left to its
 * job. Tombstones come first: one that is not there after the write is applied by whoever writes it.
 *
 * @param part Memories without vectors; at least one.
 * @throws {SvcError} what the store, the cipher or the embedder throws, when it may pass.
 */
export async function reembedPart(
  domain: EmbeddingAnew,
  caller: Caller,
  part: readonly IndexEntry[],
): Promise<ReembeddedPart> {
  const { signal } = caller;
  const { owner, namespace } = part[0]!;
  const scope: Scope = { owner, namespace };
  const { texts, impossible, unreadable } = await textsOf(domain, caller, part);
  const { made, impossible: refused } = await vectorsOf(domain.embedder, texts, signal);
  const isGone = (entry: IndexEntry): boolean =>
    domain.tombstones.isGone(entry, entry.id, entry.updatedAt);
  const versions = new Map(part.map(({ id, version }) => [id, version]));
  const before = domain.jobs.liveIn(scope);
  const rows = await storedEntries(domain, owner, [...made.keys()], { signal });
  const live = new Set(
    [...before, ...domain.jobs.liveIn(scope)].map(({ job }) => job.memoryId),
  );
  const bare = rows.filter((row) =>
    row.namespace === namespace && row.version === versions.get(row.id) &&
    row.vectors.length === 0 && !isGone(row)
  );
  const entries = bare
    .filter(({ id }) => !live.has(id))
    .map((row) => ({ ...row, vectors: made.get(row.id)! }));
  // No await since the rows were looked at: what is written later is applied later.
  if (entries.length > 0) await domain.vectorStore.upsert(entries, { signal });
  const undone = entries.filter(isGone).map(({ id }) => id);
  if (undone.length > 0) await domain.vectorStore.delete(scope, undone);
  domain.index.apply(entries.filter(({ id }) => !undone.includes(id)));
  const lost = [...impossible, ...refused];
  const postponed = unreadable + bare.length - entries.length;
  return { done: part.length - lost.length - postponed, postponed, impossible: lost };
}
