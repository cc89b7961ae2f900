import type { IndexEntry, Scope, VectorStore } from "../../src/interfaces/mod.ts";
import { SvcError } from "../../src/errors.ts";
import { Gate } from "./gate.ts";

const PAGE = 256;

interface ScopeRows {
  readonly entries: Map<string, IndexEntry>;
  lastWriteAt: number;
}

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

function closest(entry: IndexEntry, vector: Float32Array): number {
  return Math.min(...entry.vectors.map((window) => cosineDistance(window, vector)));
}

/** Exact search over every entry of a scope, without persistence. */
export function memoryVectorStore(): VectorStore {
  const gate = new Gate("storage_unavailable");
  const owners = new Map<string, Map<string, ScopeRows>>();
  const rowsOf = ({ owner, namespace }: Scope) => owners.get(owner)?.get(namespace);
  const ownRowsOf = ({ owner, namespace }: Scope): ScopeRows => {
    const scopes = owners.getOrInsertComputed(owner, () => new Map());
    return scopes.getOrInsertComputed(namespace, () => ({ entries: new Map(), lastWriteAt: 0 }));
  };
  return {
    async upsert(entries, options) {
      const copies = entries.map(copyOf);
      await gate.pass(options?.signal);
      for (const entry of copies) {
        const rows = ownRowsOf(entry);
        if (entry.version < (rows.entries.get(entry.id)?.version ?? 0)) continue;
        rows.entries.set(entry.id, entry);
        rows.lastWriteAt = Math.max(rows.lastWriteAt, entry.updatedAt);
      }
    },
    async link(scope, links, options) {
      await gate.pass(options?.signal);
      const rows = rowsOf(scope);
      for (const { id, version, blobId } of links) {
        const entry = rows?.entries.get(id);
        if (entry?.version === version) rows?.entries.set(id, { ...entry, blobId });
      }
    },
    async search(query, options) {
      await gate.pass(options?.signal);
      return [...rowsOf(query)?.entries.values() ?? []]
        .filter((entry) => entry.vectors.length > 0)
        .map((entry) => ({ entry, distance: closest(entry, query.vector) }))
        .sort((a, b) => a.distance - b.distance || (a.entry.id < b.entry.id ? -1 : 1))
        .slice(0, query.limit)
        .map(({ entry, distance }) => ({ entry: copyOf(entry), distance }));
    },
    async get(owner, ids, options) {
      await gate.pass(options?.signal);
      const wanted = new Set(ids);
      return [...owners.get(owner)?.values() ?? []]
        .flatMap(({ entries }) => [...wanted].flatMap((id) => entries.get(id) ?? []))
        .map(copyOf);
    },
    async scan(scope, cursor = "", options) {
      await gate.pass(options?.signal);
      const left = [...rowsOf(scope)?.entries.values() ?? []]
        .filter((entry) => entry.id > cursor)
        .sort((a, b) => a.id < b.id ? -1 : 1);
      const page = left.slice(0, PAGE);
      return {
        entries: page.map(copyOf),
        ...(left.length > page.length ? { cursor: page.at(-1)!.id } : {}),
      };
    },
    async scopes(owner, options) {
      await gate.pass(options?.signal);
      return [...owners.get(owner) ?? []]
        .filter(([, rows]) => rows.entries.size > 0)
        .map(([namespace, { entries, lastWriteAt }]) => ({
          namespace,
          count: entries.size,
          bytes: entries.values().reduce((sum, entry) => sum + entry.bytes, 0),
          lastWriteAt,
        }))
        .sort((a, b) => a.namespace < b.namespace ? -1 : 1);
    },
    async delete(scope, ids, options) {
      await gate.pass(options?.signal);
      for (const id of ids) rowsOf(scope)?.entries.delete(id);
    },
    [Symbol.asyncDispose]: () => gate[Symbol.asyncDispose](),
  };
}
