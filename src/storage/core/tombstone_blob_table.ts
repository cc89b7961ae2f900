import type { Scope } from "../../interfaces/mod.ts";
import { fromColumn, toColumn } from "../sqlite/database.ts";
import type { SqliteFile } from "../sqlite/sqlite_file.ts";

export const TOMBSTONE_BLOB_SCHEMA = `
  create table if not exists unsent_tombstone (
    seq integer primary key autoincrement, account text not null, owner text not null,
    namespace blob not null, id text not null, at integer not null,
    unique (owner, namespace, id)
  ) strict;
  create table if not exists tombstone_blob (
    owner text not null, namespace blob not null, blob_id text not null,
    primary key (owner, namespace, blob_id)
  ) strict, without rowid;
`;

/** A deletion that a blob store must be told. */
export interface UnsentTombstone extends Scope {
  readonly seq: number;
  readonly accountId: string;
  /** Memory id; empty: everything the namespace held until `at`. */
  readonly id: string;
  /** When it was deleted, milliseconds since the epoch. */
  readonly at: number;
}

interface Row {
  seq: number;
  account: string;
  owner: string;
  namespace: Uint8Array;
  id: string;
  at: number;
}

/**
 * Deletions of memories whose bytes stay in the blob store, until a sealed tombstone lies there as
 * well; and the blobs that hold such tombstones. Calls are synchronous and durable on return.
 */
export class TombstoneBlobTable {
  readonly #file: SqliteFile;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  /** Notes deletions; an empty id means the whole namespace until `at`, where the latest counts. */
  add(accountId: string, scope: Scope, ids: readonly string[], at: number): void {
    const namespace = toColumn(scope.namespace);
    const sql =
      `insert into unsent_tombstone(account, owner, namespace, id, at) values (?, ?, ?, ?, ?)
      on conflict (owner, namespace, id) do update set at = max(at, excluded.at)`;
    this.#file.transaction(() => {
      for (const id of ids) this.#file.run(sql, accountId, scope.owner, namespace, id, at);
    });
  }

  /** Takes back deletions of what was never stored. */
  remove(scope: Scope, ids: readonly string[]): void {
    const namespace = toColumn(scope.namespace);
    const sql = "delete from unsent_tombstone where owner = ? and namespace = ? and id = ?";
    this.#file.transaction(() => {
      for (const id of ids) this.#file.run(sql, scope.owner, namespace, id);
    });
  }

  /** The oldest deletions that are still to be told, of those noted after `after` (a `seq`). */
  unsent(limit: number, after = 0): UnsentTombstone[] {
    const sql = "select * from unsent_tombstone where seq > ? order by seq limit ?";
    return this.#file.all<Row>(sql, after, limit)
      .map(({ account, namespace, ...row }) => ({
        ...row,
        accountId: account,
        namespace: fromColumn(namespace),
      }));
  }

  /** Notes that a blob holds tombstones, and that these of ours need no other one. */
  sent(scope: Scope, blobId: string, tombstones: readonly UnsentTombstone[] = []): void {
    const sql = "insert into tombstone_blob values (?, ?, ?) on conflict do nothing";
    this.#file.transaction(() => {
      this.#file.run(sql, scope.owner, toColumn(scope.namespace), blobId);
      for (const { seq, at } of tombstones) {
        this.#file.run("delete from unsent_tombstone where seq = ? and at = ?", seq, at);
      }
    });
  }

  /** Whether a blob is known to hold tombstones. */
  isTombstone(scope: Scope, blobId: string): boolean {
    const sql = "select 1 from tombstone_blob where owner = ? and namespace = ? and blob_id = ?";
    return this.#file.get(sql, scope.owner, toColumn(scope.namespace), blobId) !== undefined;
  }
}
