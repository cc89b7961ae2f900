import { guarded, type RowsChange, type VectorRows } from "../../src/interfaces/guarded.ts";
import type { IndexEntry, Scope, ScopeCount, VectorStore } from "../../src/interfaces/mod.ts";

interface ScopeRows {
  readonly entries: Map<string, IndexEntry>;
  counts: ScopeCount;
}

/** Rows by owner and namespace; what is answered is a copy. */
class MemoryRows implements VectorRows {
  readonly #owners = new Map<string, Map<string, ScopeRows>>();

  write({ owner, namespace, put, remove, counts }: RowsChange): void {
    const scopes = this.#owners.getOrInsertComputed(owner, () => new Map<string, ScopeRows>());
    const rows = scopes.getOrInsertComputed(namespace, () => ({ entries: new Map(), counts }));
    for (const entry of put) rows.entries.set(entry.id, entry);
    for (const id of remove) rows.entries.delete(id);
    rows.counts = counts;
  }

  get(owner: string, ids: readonly string[]): IndexEntry[] {
    const scopes = [...this.#owners.get(owner)?.values() ?? []];
    const found = scopes.flatMap(({ entries }) => ids.flatMap((id) => entries.get(id) ?? []));
    return structuredClone(found);
  }

  page({ owner, namespace }: Scope, after: string, limit: number): IndexEntry[] {
    const entries = this.#owners.get(owner)?.get(namespace)?.entries.values() ?? [];
    const left = [...entries].filter(({ id }) => id > after).sort((a, b) => a.id < b.id ? -1 : 1);
    return structuredClone(left.slice(0, limit));
  }

  counts(owner: string): ScopeCount[] {
    return [...this.#owners.get(owner)?.values() ?? []].map(({ counts }) => counts);
  }
}

/** Exact search over every entry of a scope, without persistence. */
export function memoryVectorStore(): VectorStore {
  return guarded(new MemoryRows());
}
