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
`;

interface ScopeRow {
  readonly owner: string;
  readonly namespace: Uint8Array;
}

const scopeOfRow = ({ owner, namespace }: ScopeRow): Scope => ({
  owner,
  namespace: fromColumn(namespace),
});

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

  constructor(file: SqliteFile) {
    this.#file = file;
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
