import {
  type BlobLink,
  type IndexEntry,
  type ScanPage,
  type Scope,
  type ScopeCount,
  SvcError,
  type VectorMatch,
  type VectorQuery,
  type VectorStore,
} from "@svc/relayer";

const PAGE = 100;

/** A copy: what the caller does to its arrays later must not change what is stored. */
function copyOf(entry: IndexEntry): IndexEntry {
  return {
    ...entry,
    payload: entry.payload.slice(),
    vectors: entry.vectors.map((v) => v.slice()),
  };
}

function distance(a: Float32Array, b: Float32Array): number {
  let dot = 0;
  for (let i = 0; i < a.length; i++) dot += a[i]! * b[i]!;
  return Math.min(
    2,
    Math.max(0, 1 - dot / (Math.hypot(...a) * Math.hypot(...b))),
  );
}

/** A vector store of one's own: a list per scope, kept in the order of ids. */
export class SortedStore implements VectorStore {
  readonly #scopes = new Map<string, Map<string, IndexEntry>>();
  readonly #lastWrites = new Map<string, number>();
  #closed = false;

  #open(signal?: AbortSignal): void {
    signal?.throwIfAborted();
    if (this.#closed) {
      throw new SvcError("storage_unavailable", "The store is closed");
    }
  }

  #of({ owner, namespace }: Scope): Map<string, IndexEntry> {
    const key = JSON.stringify([owner, namespace]);
    const rows = this.#scopes.get(key) ?? new Map<string, IndexEntry>();
    this.#scopes.set(key, rows);
    return rows;
  }

  async upsert(
    entries: readonly IndexEntry[],
    options?: { signal?: AbortSignal | undefined },
  ) {
    await Promise.resolve();
    this.#open(options?.signal);
    for (const entry of entries) {
      const rows = this.#of(entry);
      if ((rows.get(entry.id)?.version ?? 0) > entry.version) continue;
      rows.set(entry.id, copyOf(entry));
      const key = JSON.stringify([entry.owner, entry.namespace]);
      this.#lastWrites.set(
        key,
        Math.max(this.#lastWrites.get(key) ?? 0, entry.updatedAt),
      );
    }
  }

  async link(
    scope: Scope,
    links: readonly BlobLink[],
    options?: { signal?: AbortSignal | undefined },
  ) {
    await Promise.resolve();
    this.#open(options?.signal);
    const rows = this.#of(scope);
    for (const { id, version, blobId } of links) {
      const entry = rows.get(id);
      if (entry?.version === version) rows.set(id, { ...entry, blobId });
    }
  }

  async search(
    query: VectorQuery,
    options?: { signal?: AbortSignal | undefined },
  ) {
    await Promise.resolve();
    this.#open(options?.signal);
    // A memory of another embedding model has no vectors until it is embedded anew.
    const found = [...this.#of(query).values()].filter(({ vectors }) => vectors.length > 0);
    const matches: VectorMatch[] = found.map((entry) => ({
      entry: copyOf(entry),
      distance: Math.min(
        ...entry.vectors.map((vector) => distance(vector, query.vector)),
      ),
    }));
    return matches.sort((a, b) => a.distance - b.distance).slice(
      0,
      query.limit,
    );
  }

  async get(
    owner: string,
    ids: readonly string[],
    options?: { signal?: AbortSignal | undefined },
  ): Promise<IndexEntry[]> {
    await Promise.resolve();
    this.#open(options?.signal);
    const own = [...this.#scopes].filter(([key]) => JSON.parse(key)[0] === owner);
    return [...new Set(ids)].flatMap((id) =>
      own.flatMap(([, rows]) => {
        const entry = rows.get(id);
        return entry === undefined ? [] : [copyOf(entry)];
      })
    );
  }

  async scan(
    scope: Scope,
    cursor?: string,
    options?: { signal?: AbortSignal | undefined },
  ): Promise<ScanPage> {
    await Promise.resolve();
    this.#open(options?.signal);
    const after = cursor ?? "";
    const rows = [...this.#of(scope).values()].filter((entry) => entry.id > after)
      .sort((a, b) => a.id < b.id ? -1 : 1);
    const entries = rows.slice(0, PAGE).map(copyOf);
    const last = entries.at(-1);
    return rows.length > PAGE && last !== undefined ? { entries, cursor: last.id } : { entries };
  }

  async scopes(
    owner: string,
    options?: { signal?: AbortSignal | undefined },
  ): Promise<ScopeCount[]> {
    await Promise.resolve();
    this.#open(options?.signal);
    const counts: ScopeCount[] = [];
    for (const [key, rows] of this.#scopes) {
      const [of, namespace] = JSON.parse(key) as [string, string];
      if (of !== owner || rows.size === 0) continue;
      let bytes = 0;
      for (const entry of rows.values()) bytes += entry.bytes;
      const lastWriteAt = this.#lastWrites.get(key) ?? 0;
      counts.push({ namespace, count: rows.size, bytes, lastWriteAt });
    }
    return counts.sort((a, b) => a.namespace < b.namespace ? -1 : 1);
  }

  async delete(
    scope: Scope,
    ids: readonly string[],
    options?: { signal?: AbortSignal | undefined },
  ) {
    await Promise.resolve();
    this.#open(options?.signal);
    const rows = this.#of(scope);
    for (const id of ids) rows.delete(id);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    return Promise.resolve();
  }
}
