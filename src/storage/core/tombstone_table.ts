import type { Scope } from "../../interfaces/mod.ts";
import { scopeKey } from "../../interfaces/scope_key.ts";
import { fromColumn, toColumn } from "../sqlite/database.ts";
import type { SqliteFile } from "../sqlite/sqlite_file.ts";

export const TOMBSTONE_SCHEMA = `
  create table if not exists tombstone (
    owner text not null, namespace blob not null, id text not null, at integer not null,
    applied integer not null, primary key (owner, namespace, id)
  ) strict, without rowid;
  create index if not exists tombstone_unapplied on tombstone (at) where applied = 0;
  create table if not exists forgotten (
    owner text not null, namespace blob not null, at integer not null,
    primary key (owner, namespace)
  ) strict, without rowid;
  create table if not exists forgetting (
    owner text not null, namespace blob not null, at integer not null,
    primary key (owner, namespace)
  ) strict, without rowid;
  create table if not exists erasure (
    owner text not null, namespace blob not null, id text not null, erased integer not null,
    kept integer not null, kept_until integer, primary key (owner, namespace, id)
  ) strict, without rowid;
`;

interface ScopeRow {
  readonly owner: string;
  readonly namespace: Uint8Array;
}

const scopeOfRow = ({ owner, namespace }: ScopeRow): Scope => ({
  owner,
  namespace: fromColumn(namespace),
});

interface DeletionRow {
  readonly at: number;
  readonly applied: number;
  readonly erased: number | null;
  readonly kept: number | null;
  readonly keptUntil: number | null;
}

/** A memory as a key of a map. */
function placeOf(memory: Scope & { readonly id: string }): string {
  return `${scopeKey(memory)}\n${memory.id}`;
}

/** A deletion, as receipts tell of it. */
export interface Deletion {
  readonly id: string;
  /** When it was deleted, milliseconds since the epoch. */
  readonly at: number;
  /** Whether no byte of it stands in the relayer's files. */
  readonly erased: boolean;
  /** Whether the blob store keeps its bytes. */
  readonly kept: boolean;
  /** Until when, where that is known, milliseconds since the epoch. */
  readonly keptUntil?: number | undefined;
}

const PLACE = "e.owner = t.owner and e.namespace = t.namespace and e.id = t.id";

/**
 * Deletions, written before anything is removed. They stay for good: a blob store that still lists
 * a deleted memory must never bring it back. Calls are synchronous and durable on return; times are
 * milliseconds since the epoch.
 */
export class TombstoneTable {
  readonly #file: SqliteFile;
  /** The table `forgotten`, read once: every accepted memory is checked against it. */
  #forgotten: Map<string, number> | undefined;
  /** Scopes with tombstones, read once: every hit of every recall is checked against them. */
  #marked: Set<string> | undefined;
  /** Finished removals that are not erased, read once. */
  #unerased: Map<string, Scope & { readonly id: string }> | undefined;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  /** To be called when rows were exchanged by somebody else. */
  reread(): void {
    this.#forgotten = undefined;
    this.#marked = undefined;
    this.#unerased = undefined;
  }

  /** Marks memories as deleted; one that is marked keeps its first time. */
  addTombstones(scope: Scope, ids: readonly string[], at: number): void {
    const namespace = toColumn(scope.namespace);
    this.#marked?.add(scopeKey(scope));
    const sql = "insert into tombstone values (?, ?, ?, ?, 0) on conflict do nothing";
    this.#file.transaction(() => {
      for (const id of ids) this.#file.run(sql, scope.owner, namespace, id, at);
    });
  }

  tombstone(scope: Scope, id: string): number | undefined {
    this.#marked ??= this.#readMarked();
    if (!this.#marked.has(scopeKey(scope))) return undefined;
    const sql = "select at from tombstone where owner = ? and namespace = ? and id = ?";
    return this.#file.get<{ at: number }>(sql, scope.owner, toColumn(scope.namespace), id)?.at;
  }

  isDeleted(scope: Scope, id: string): boolean {
    return this.tombstone(scope, id) !== undefined;
  }

  /** Whether a memory accepted at that time was deleted, or its namespace forgotten, since. */
  isGone(scope: Scope, id: string, acceptedAt: number): boolean {
    return this.isDeleted(scope, id) || acceptedAt <= (this.forgottenAt(scope) ?? -Infinity);
  }

  /** Marks everything a namespace held until `at` as deleted; the latest time counts. */
  forgetNamespace(scope: Scope, at: number): void {
    const sql = `insert into forgotten values (?, ?, ?)
      on conflict (owner, namespace) do update set at = max(at, excluded.at)`;
    this.#file.run(sql, scope.owner, toColumn(scope.namespace), at);
    const before = this.forgottenAt(scope) ?? -Infinity;
    this.#forgotten?.set(scopeKey(scope), Math.max(before, at));
  }

  /** The same, and notes that its removal is not finished. */
  beginForget(scope: Scope, at: number): void {
    const sql = `insert into forgetting values (?, ?, ?)
      on conflict (owner, namespace) do update set at = max(at, excluded.at)`;
    this.#file.transaction(() => {
      this.forgetNamespace(scope, at);
      this.#file.run(sql, scope.owner, toColumn(scope.namespace), at);
    });
  }

  /** Notes that everything a namespace held until then is removed, or has a tombstone of its own. */
  endForget(scope: Scope, at: number): void {
    const sql = "delete from forgetting where owner = ? and namespace = ? and at <= ?";
    this.#file.run(sql, scope.owner, toColumn(scope.namespace), at);
  }

  /** Forgets that are not finished, with their times. */
  forgetting(): (Scope & { readonly at: number })[] {
    const sql = "select owner, namespace, at from forgetting order by at";
    return this.#file.all<ScopeRow & { at: number }>(sql)
      .map((row) => ({ ...scopeOfRow(row), at: row.at }));
  }

  forgottenAt(scope: Scope): number | undefined {
    this.#forgotten ??= this.#readForgotten();
    return this.#forgotten.get(scopeKey(scope));
  }

  /** Deletions whose removal is not finished, oldest first. */
  unapplied(): (Scope & { readonly id: string })[] {
    const sql = "select owner, namespace, id from tombstone where applied = 0 order by at";
    return this.#file.all<ScopeRow & { id: string }>(sql)
      .map((row) => ({ ...scopeOfRow(row), id: row.id }));
  }

  /** Ids of a scope whose removal is not finished: their rows may still be there. */
  unappliedIn(scope: Scope): ReadonlySet<string> {
    const here = this.unapplied().filter(({ owner, namespace }) =>
      owner === scope.owner && namespace === scope.namespace
    );
    return new Set(here.map(({ id }) => id));
  }

  /** Notes that the removal of memories is finished. */
  markApplied(scope: Scope, ids: readonly string[]): void {
    const namespace = toColumn(scope.namespace);
    const sql = "update tombstone set applied = 1 where owner = ? and namespace = ? and id = ?";
    this.#file.transaction(() => {
      for (const id of ids) this.#file.run(sql, scope.owner, namespace, id);
    });
    const { owner, namespace: name } = scope;
    for (const id of ids) {
      const memory = { owner, namespace: name, id };
      if (this.#unerased !== undefined) this.#unerased.set(placeOf(memory), memory);
    }
  }

  /** Finished removals of which bytes may stand in files. */
  unerased(): (Scope & { readonly id: string })[] {
    return [...this.#left().values()];
  }

  get unerasedCount(): number {
    return this.#left().size;
  }

  #left(): Map<string, Scope & { readonly id: string }> {
    return this.#unerased ??= this.#readUnerased();
  }

  /** Notes that no byte of memories stands in files. */
  markErased(memories: readonly (Scope & { readonly id: string })[]): void {
    const sql = `insert into erasure values (?, ?, ?, 1, 0, null)
      on conflict (owner, namespace, id) do update set erased = 1`;
    this.#file.transaction(() => {
      for (const { owner, namespace, id } of memories) {
        this.#file.run(sql, owner, toColumn(namespace), id);
      }
    });
    for (const memory of memories) this.#unerased?.delete(placeOf(memory));
  }

  /** Notes that the blob store keeps bytes of a memory, and until when where that is known. */
  noteKept(scope: Scope, id: string, until: number | undefined): void {
    const sql = `insert into erasure values (?, ?, ?, 0, 1, ?)
      on conflict (owner, namespace, id) do update set kept = 1, kept_until = excluded.kept_until`;
    this.#file.run(sql, scope.owner, toColumn(scope.namespace), id, until ?? null);
  }

  /** Deletions of memories of a scope; those that were not deleted are left out. */
  deletions(scope: Scope, ids: readonly string[]): Deletion[] {
    const sql = `select t.id, t.at, t.applied, e.erased, e.kept, e.kept_until as keptUntil
      from tombstone t left join erasure e on ${PLACE}
      where t.owner = ? and t.namespace = ? and t.id = ?`;
    const namespace = toColumn(scope.namespace);
    return ids.flatMap((id) => {
      const row = this.#file.get<DeletionRow>(sql, scope.owner, namespace, id);
      if (row === undefined) return [];
      const { at, applied, erased, kept, keptUntil } = row;
      return [{
        id,
        at,
        erased: applied === 1 && erased === 1,
        kept: kept === 1,
        keptUntil: keptUntil ?? undefined,
      }];
    });
  }

  /** Of deletions by earlier versions as well. */
  #readUnerased(): Map<string, Scope & { readonly id: string }> {
    const sql = `select t.owner, t.namespace, t.id from tombstone t
      left join erasure e on ${PLACE} where t.applied = 1 and coalesce(e.erased, 0) = 0
      order by t.at`;
    const rows = this.#file.all<ScopeRow & { id: string }>(sql)
      .map((row) => ({ ...scopeOfRow(row), id: row.id }));
    return new Map(rows.map((memory) => [placeOf(memory), memory]));
  }

  #readMarked(): Set<string> {
    const rows = this.#file.all<ScopeRow>("select distinct owner, namespace from tombstone");
    return new Set(rows.map((row) => scopeKey(scopeOfRow(row))));
  }

  #readForgotten(): Map<string, number> {
    const sql = "select owner, namespace, at from forgotten";
    const rows = this.#file.all<ScopeRow & { at: number }>(sql);
    return new Map(rows.map((row) => [scopeKey(scopeOfRow(row)), row.at]));
  }
}
