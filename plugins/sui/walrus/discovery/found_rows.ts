import type { Scope } from "../../../../src/interfaces/mod.ts";
import { columnsOf, type Database } from "../../../../src/storage/sqlite/database.ts";
import type { Catalogue } from "../catalogue.ts";
import type { OwnedBlob, Sent } from "./chain_reads.ts";

/**
 * `found`: what is known of the Blob objects of an address, also of those that are not ours, so
 * that another look costs only the pages. `sender` and `at` are of the transaction that changed the
 * object last; `taken`: 0 the attributes were not read yet, 1 the blob is ours, 2 it is not.
 * `seen`: number of the last look that met it.
 *
 * `indexed`: quilts of a scope whose patches are in the catalogue, read from bytes that were
 * proven.
 */
export const DISCOVERY_SCHEMA = `
create table if not exists found(
  object_id text primary key, holder text not null, version text not null, sender text not null,
  at integer not null, taken integer not null, seen integer not null) strict;
create index if not exists found_holder on found(holder, seen);
create table if not exists indexed(
  owner blob not null, namespace blob not null, blob_id text not null,
  primary key(owner, namespace, blob_id)) strict, without rowid`;

/** The table `found`. Methods that change rows run inside `database.write`. */
export class FoundRows {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The row of an object, when the object still has this version. */
  get(objectId: string, version: string): (Sent & { readonly taken: number }) | undefined {
    const sql = "select sender, at, taken from found where object_id = ? and version = ?";
    return this.#database.get(sql, objectId, version);
  }

  /** Who changed an object last; `undefined` where it has no row, whatever its version. */
  senderOf(objectId: string): string | undefined {
    const sql = "select sender from found where object_id = ?";
    return this.#database.get<{ sender: string }>(sql, objectId)?.sender;
  }

  nextLook(holder: string): number {
    const sql = "select max(seen) as seen from found where holder = ?";
    return (this.#database.get<{ seen: number | null }>(sql, holder)?.seen ?? 0) + 1;
  }

  put(holder: string, { objectId, version }: OwnedBlob, { sender, at }: Sent, look: number): void {
    const sql = "insert or replace into found values(?, ?, ?, ?, ?, 0, ?)";
    this.#database.run(sql, objectId, holder, version, sender, at, look);
  }

  see(objectId: string, look: number): void {
    this.#database.run("update found set seen = ? where object_id = ?", look, objectId);
  }

  setTaken(objectId: string, ours: boolean): void {
    const sql = "update found set taken = ? where object_id = ?";
    this.#database.run(sql, ours ? 1 : 2, objectId);
  }

  /** Objects that a finished look did not meet: the address no longer has them. */
  unseen(holder: string, look: number): string[] {
    const sql = "select object_id as id from found where holder = ? and seen < ? and version <> ''";
    return this.#database.all<{ id: string }>(sql, holder, look).map(({ id }) => id);
  }

  /**
   * Quilts that a look met and that count as replaced, though nobody has read them and no quilt
   * names them as deleted: none of their patches can be elsewhere.
   */
  leftUnread(holder: string, look: number): string[] {
    const sql = `select object_id as id from found join stored as s using(object_id)
       where found.holder = ? and seen = ? and taken = 1 and state = 'replaced' and quilt = 1
       and not exists (select 1 from indexed as i where i.owner = s.owner
         and i.namespace = s.namespace and i.blob_id = s.blob_id)
       and not exists (select 1 from tombstone as t where t.owner = s.owner
         and t.namespace = s.namespace and t.id = s.blob_id)`;
    return this.#database.all<{ id: string }>(sql, holder, look).map(({ id }) => id);
  }

  /** Clears the version, so that the object is read anew when a look meets it again. */
  reopen(objectId: string): void {
    this.#database.run("update found set version = '' where object_id = ?", objectId);
  }

  remove(objectId: string): void {
    this.#database.run("delete from found where object_id = ?", objectId);
  }
}

/** Whether the patches of a quilt are in the catalogue. */
export function isIndexed(database: Database, scope: Scope, blobId: string): boolean {
  const sql = "select 1 from indexed where owner = ? and namespace = ? and blob_id = ?";
  return database.get(sql, ...columnsOf(scope), blobId) !== undefined;
}

/** Notes that the patches of a quilt are in the catalogue; must run inside `database.write`. */
export function markIndexed(database: Database, scope: Scope, blobId: string): void {
  database.run("insert or ignore into indexed values(?, ?, ?)", ...columnsOf(scope), blobId);
}

/**
 * Whether a live blob by itself was stored at a time or later (milliseconds since the epoch). Then a
 * deletion told at that time meant an earlier object, because equal bytes have the same id. The same
 * time counts: a blob cannot share a transaction with the quilt that tells of its deletion.
 */
export function isStoredSince(
  { database }: Catalogue,
  scope: Scope,
  id: string,
  at: number,
): boolean {
  const sql = `select 1 from stored where blob_id = ? and +owner = ? and +namespace = ?
    and +state = 'live' and quilt = 0 and created_at >= ?`;
  return database.get(sql, id, ...columnsOf(scope), at) !== undefined;
}

/**
 * Forgets that a blob by itself was deleted, when it was stored after the quilt that tells of the
 * deletion. A deletion that no quilt tells yet was made here, after all that is stored, and stays.
 * Must run inside `database.write`.
 */
export function reviveStoredAnew(catalogue: Catalogue, scope: Scope, id: string): void {
  const told = catalogue.database.get<{ at: number | null }>(
    `select min(s.created_at) as at from tombstone as t join stored as s on s.blob_id = t.quilt
     where t.owner = ? and t.namespace = ? and t.id = ?
     and +s.owner = t.owner and +s.namespace = t.namespace`,
    ...columnsOf(scope),
    id,
  );
  if (typeof told?.at !== "number") return;
  if (isStoredSince(catalogue, scope, id, told.at)) catalogue.removeTombstone(scope, id);
}
