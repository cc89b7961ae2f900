import type { Scope } from "../../../../src/interfaces/mod.ts";
import { columnsOf, type Database } from "../../../../src/storage/sqlite/database.ts";
import type { OwnedBlob, Sent } from "./chain_reads.ts";

/**
 * `found`: what is known of the Blob objects of an address, also of those that are not ours, so
 * that another look costs only the pages. `sender` and `at` are of the transaction that changed the
 * object last; `taken`: 0 the attributes were not read yet, 1 the blob is ours, 2 it is not.
 * `seen`: number of the last look that met it.
 *
 * `indexed`: quilts of a scope whose patches are in the catalogue, read from bytes that were
 * proven.
 *
 * `digest`: SHA-256 of what is read again from aggregators.
 */
export const DISCOVERY_SCHEMA = `
create table if not exists found(
  object_id text primary key, holder text not null, version text not null, sender text not null,
  at integer not null, taken integer not null, seen integer not null) strict;
create index if not exists found_holder on found(holder, seen);
create table if not exists indexed(
  owner blob not null, namespace blob not null, blob_id text not null,
  primary key(owner, namespace, blob_id)) strict, without rowid;
create table if not exists digest(
  id text primary key, sha256 blob not null) strict, without rowid`;

/** What is known of a Blob object. */
export interface FoundRow {
  /** Object id. */
  readonly objectId: string;
  /** Version it was looked at. */
  readonly version: string;
  /** Who changed it last. */
  readonly sender: string;
  /** When, milliseconds since the epoch. */
  readonly at: number;
  /** 0 unknown, 1 ours, 2 not ours. */
  readonly taken: number;
}

/** The table `found`. Changes must run inside `database.write`. */
export class FoundRows {
  readonly #database: Database;

  /** Works on a file with {@linkcode DISCOVERY_SCHEMA}. */
  constructor(database: Database) {
    this.#database = database;
  }

  /** What is known of an object, when its version is still the same. */
  get(objectId: string, version: string): FoundRow | undefined {
    return this.#database.get<FoundRow>(
      `select object_id as objectId, version, sender, at, taken from found
       where object_id = ? and version = ?`,
      objectId,
      version,
    );
  }

  /** Whether anything is known of an object, whatever its version. */
  has(objectId: string): boolean {
    return this.#database.get("select 1 from found where object_id = ?", objectId) !== undefined;
  }

  /** Who changed an object last, as far as it is known. */
  senderOf(objectId: string): string | undefined {
    const sql = "select sender from found where object_id = ?";
    return this.#database.get<{ sender: string }>(sql, objectId)?.sender;
  }

  /** Number of the next look at an address. */
  nextLook(holder: string): number {
    const sql = "select max(seen) as seen from found where holder = ?";
    return (this.#database.get<{ seen: number | null }>(sql, holder)?.seen ?? 0) + 1;
  }

  /** Notes who changed an object last. */
  put(holder: string, { objectId, version }: OwnedBlob, { sender, at }: Sent, look: number): void {
    this.#database.run(
      "insert or replace into found values(?, ?, ?, ?, ?, 0, ?)",
      objectId,
      holder,
      version,
      sender,
      at,
      look,
    );
  }

  /** Notes that a look met an object. */
  see(objectId: string, look: number): void {
    this.#database.run("update found set seen = ? where object_id = ?", look, objectId);
  }

  /** Notes whether an object is ours. */
  setTaken(objectId: string, ours: boolean): void {
    const sql = "update found set taken = ? where object_id = ?";
    this.#database.run(sql, ours ? 1 : 2, objectId);
  }

  /** Objects that a finished look did not meet: the address has them no longer. */
  unseen(holder: string, look: number): string[] {
    return this.#database.all<{ id: string }>(
      "select object_id as id from found where holder = ? and seen < ? and version <> ''",
      holder,
      look,
    ).map(({ id }) => id);
  }

  /**
   * Quilts that a look met and that count as replaced, though nobody has read them and no quilt
   * says so: nothing of them can be elsewhere.
   */
  leftUnread(holder: string, look: number): string[] {
    return this.#database.all<{ id: string }>(
      `select object_id as id from found join stored as s using(object_id)
       where found.holder = ? and seen = ? and taken = 1 and state = 'replaced' and quilt = 1
       and not exists (select 1 from indexed as i where i.owner = s.owner
         and i.namespace = s.namespace and i.blob_id = s.blob_id)
       and not exists (select 1 from tombstone as t where t.owner = s.owner
         and t.namespace = s.namespace and t.id = s.blob_id)`,
      holder,
      look,
    ).map(({ id }) => id);
  }

  /** Has an object looked at anew when it is met again. */
  reopen(objectId: string): void {
    this.#database.run("update found set version = '' where object_id = ?", objectId);
  }

  /** Forgets an object. */
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
  const sql = "insert or ignore into indexed values(?, ?, ?)";
  database.run(sql, ...columnsOf(scope), blobId);
}
