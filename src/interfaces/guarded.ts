import { abortable } from "../deadline.ts";
import { SvcError } from "../errors.ts";
import type { Scope } from "./common.ts";
import type {
  IndexEntry,
  ScopeCount,
  VectorMatch,
  VectorQuery,
  VectorStore,
} from "./vector_store.ts";

/** A change of one scope. */
export interface RowsChange extends Scope {
  /** Memories to store; each replaces what is stored under its id. */
  readonly put: readonly IndexEntry[];
  /** Ids to remove. */
  readonly remove: readonly string[];
  /** What the scope holds afterwards, to be kept as it is. */
  readonly counts: ScopeCount;
}

/**
 * The rows of a vector store of one embedding model: {@linkcode guarded} makes a {@linkcode
 * VectorStore} of them. Calls come one after the other where they write, and none comes after
 * disposal. What fails with anything but an `SvcError` is answered as `storage_unavailable`.
 */
export interface VectorRows {
  /** Makes a change, all of it or nothing; durable and visible once it is done. */
  write(change: RowsChange): Promise<void> | void;
  /** The owner's memories with these ids, in whatever namespace. */
  get(owner: string, ids: readonly string[]): Promise<IndexEntry[]> | IndexEntry[];
  /** The memories of a scope in the order of their ids: the first ones behind an id, at most `limit`. */
  page(scope: Scope, after: string, limit: number): Promise<IndexEntry[]> | IndexEntry[];
  /** What was kept last of each of the owner's scopes, in any order. */
  counts(owner: string): Promise<ScopeCount[]> | ScopeCount[];
  /** Nearest memories of one scope, nearest first. Absent: every memory of the scope is compared. */
  search?(query: VectorQuery): Promise<VectorMatch[]> | VectorMatch[];
  /** Closes what was opened. */
  [Symbol.asyncDispose]?(): Promise<void> | void;
}

/** Memories read at once. */
const PAGE = 256;

function copyOf(entry: IndexEntry): IndexEntry {
  return {
    ...entry,
    vectors: entry.vectors.map((vector) => vector.slice()),
    payload: entry.payload.slice(),
  };
}

function cosineDistance(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) throw new SvcError("dimension_mismatch");
  let dot = 0;
  let aa = 0;
  let bb = 0;
  for (let i = 0; i < a.length; i++) {
    dot += a[i]! * b[i]!;
    aa += a[i]! * a[i]!;
    bb += b[i]! * b[i]!;
  }
  // Rounding can leave the range by a hair.
  return aa === 0 || bb === 0 ? 1 : Math.min(2, Math.max(0, 1 - dot / Math.sqrt(aa * bb)));
}

function matchOf(entry: IndexEntry, vector: Float32Array): VectorMatch {
  return { entry, distance: Math.min(...entry.vectors.map((own) => cosineDistance(own, vector))) };
}

/**
 * A vector store whose promises are kept for its driver: of several versions the highest stays,
 * links go to the version they name, scopes are counted, arrays are copied when they come in, calls
 * end with their signal, and none is answered after disposal.
 */
export function guarded(rows: VectorRows): VectorStore {
  return new GuardedStore(rows);
}

/** Its methods are properties, so that a store that wraps this one can spread it. */
class GuardedStore implements VectorStore {
  readonly #rows: VectorRows;
  /** Settles when the last write has. */
  #writing: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(rows: VectorRows) {
    this.#rows = rows;
  }

  readonly upsert: VectorStore["upsert"] = (entries, options) => {
    const scopes = Map.groupBy(
      entries.map(copyOf),
      ({ owner, namespace }) => JSON.stringify([owner, namespace]),
    );
    return this.#write(options?.signal, async () => {
      for (const own of scopes.values()) await this.#replace(own[0]!, own);
    });
  };

  readonly link: VectorStore["link"] = (scope, links, options) => {
    const given = links.map((link) => ({ ...link }));
    return this.#write(options?.signal, async () => {
      const stored = await this.#stored(scope, given.map(({ id }) => id));
      const put = given.flatMap(({ id, version, blobId }) => {
        const entry = stored.get(id);
        return entry?.version === version ? [{ ...entry, blobId }] : [];
      });
      if (put.length > 0) await this.#change(scope, { put, remove: [] }, stored);
    });
  };

  readonly delete: VectorStore["delete"] = (scope, ids, options) => {
    const given = [...ids];
    return this.#write(options?.signal, async () => {
      const stored = await this.#stored(scope, given);
      if (stored.size === 0) return;
      await this.#change(scope, { put: [], remove: [...stored.keys()] }, stored);
    });
  };

  readonly search: VectorStore["search"] = (query, options) =>
    this.#call(options?.signal, async () => {
      if (this.#rows.search !== undefined) return await this.#rows.search(query);
      let best: VectorMatch[] = [];
      let page: IndexEntry[];
      let after = "";
      do {
        this.#check(options?.signal);
        page = await this.#rows.page(query, after, PAGE);
        after = page.at(-1)?.id ?? "";
        const found = page.filter(({ vectors }) => vectors.length > 0)
          .map((entry) => matchOf(entry, query.vector));
        best = [...best, ...found].sort((a, b) => a.distance - b.distance).slice(0, query.limit);
      } while (page.length === PAGE);
      return best;
    });

  readonly get: VectorStore["get"] = (owner, ids, options) =>
    this.#call(options?.signal, () => this.#rows.get(owner, [...new Set(ids)]));

  readonly scan: VectorStore["scan"] = (scope, cursor = "", options) =>
    this.#call(options?.signal, async () => {
      const page = await this.#rows.page(scope, cursor, PAGE + 1);
      const entries = page.slice(0, PAGE);
      return page.length > PAGE ? { entries, cursor: entries.at(-1)!.id } : { entries };
    });

  readonly scopes: VectorStore["scopes"] = (owner, options) =>
    this.#call(options?.signal, async () => {
      const counts = await this.#rows.counts(owner);
      return counts.filter(({ count }) => count > 0)
        .sort((a, b) => a.namespace < b.namespace ? -1 : 1);
    });

  readonly [Symbol.asyncDispose] = async (): Promise<void> => {
    if (this.#closed) return;
    this.#closed = true;
    await this.#writing;
    await this.#rows[Symbol.asyncDispose]?.();
  };

  #check(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    if (!this.#closed) return;
    throw new SvcError("storage_unavailable", "The store is closed", { retryable: false });
  }

  async #call<T>(signal: AbortSignal | undefined, work: () => Promise<T> | T): Promise<T> {
    this.#check(signal);
    try {
      return await abortable(Promise.try(work), signal);
    } catch (cause) {
      this.#check(signal);
      throw cause instanceof SvcError
        ? cause
        : new SvcError("storage_unavailable", undefined, { cause });
    }
  }

  /** Writes come one after the other; one whose caller left while it waited is not begun. */
  #write(signal: AbortSignal | undefined, work: () => Promise<void>): Promise<void> {
    return this.#call(signal, () => {
      const turn = this.#writing.then(() => {
        this.#check(signal);
        return work();
      });
      this.#writing = turn.catch(() => {});
      return turn;
    });
  }

  /** What a scope has under ids. */
  async #stored(scope: Scope, ids: readonly string[]): Promise<Map<string, IndexEntry>> {
    const found = await this.#rows.get(scope.owner, [...new Set(ids)]);
    const own = found.filter(({ namespace }) => namespace === scope.namespace);
    return new Map(own.map((entry) => [entry.id, entry]));
  }

  async #replace(scope: Scope, entries: readonly IndexEntry[]): Promise<void> {
    const stored = await this.#stored(scope, entries.map(({ id }) => id));
    const put = new Map<string, IndexEntry>();
    for (const entry of entries) {
      const present = put.get(entry.id) ?? stored.get(entry.id);
      if (entry.version >= (present?.version ?? 0)) put.set(entry.id, entry);
    }
    if (put.size > 0) await this.#change(scope, { put: [...put.values()], remove: [] }, stored);
  }

  /** Makes a change of memories of which `stored` are there, and counts the scope anew. */
  async #change(
    { owner, namespace }: Scope,
    { put, remove }: Pick<RowsChange, "put" | "remove">,
    stored: ReadonlyMap<string, IndexEntry>,
  ): Promise<void> {
    const before = (await this.#rows.counts(owner)).find((scope) => scope.namespace === namespace);
    let { count, bytes, lastWriteAt } = before ?? { count: 0, bytes: 0, lastWriteAt: 0 };
    for (const entry of put) {
      const present = stored.get(entry.id);
      count += present === undefined ? 1 : 0;
      bytes += entry.bytes - (present?.bytes ?? 0);
      lastWriteAt = Math.max(lastWriteAt, entry.updatedAt);
    }
    for (const id of remove) {
      count--;
      bytes -= stored.get(id)!.bytes;
    }
    const counts = { namespace, count, bytes, lastWriteAt };
    await this.#rows.write({ owner, namespace, put, remove, counts });
  }
}
