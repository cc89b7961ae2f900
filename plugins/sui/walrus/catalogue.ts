import type { BlobMove, Scope } from "../../../src/interfaces/mod.ts";
import {
  columnsOf,
  Database,
  type ScopeColumns,
  scopeOf,
} from "../../../src/storage/sqlite/database.ts";
import type { StoredBlob, StoredPatch, StoredState } from "./stored_blob.ts";

/**
 * Tables that writing, reading and upkeep of the Walrus store share, in `walrus.db`. Every key but
 * that of `digest` contains the scope: equal bytes have equal ids, whoever stores them.
 *
 * - `stored`: certified Blob objects that we stored or found on chain. `holder` has the object;
 *   `state` is `live`, `replaced` (its patches moved elsewhere) or `gone` (deleted or expired).
 * - `patch`: what a blob holds, and what the store lists: the patches of a quilt, or the blob
 *   itself under its own id. Only patches that are memories; no tombstone patches.
 * - `tombstone`: ids deleted here; `quilt` is the blob id of the quilt that tells others.
 * - `move`: ids that moved; `told` once a listener took note.
 * - `kept`: bytes kept here, until `until` (milliseconds since the epoch).
 * - `digest`: SHA-256 of proven bytes that are read again from aggregators.
 */
const SCHEMA = `
create table if not exists stored(
  object_id text primary key, blob_id text not null, owner blob not null, namespace blob not null,
  holder text not null, quilt integer not null, size integer not null, end_epoch integer not null,
  created_at integer not null, state text not null) strict;
create index if not exists stored_scope on stored(owner, namespace, created_at);
create index if not exists stored_blob on stored(blob_id);
create index if not exists stored_end on stored(state, end_epoch);
create table if not exists patch(
  seq integer primary key autoincrement, id text not null, owner blob not null,
  namespace blob not null, blob_id text not null, identifier text not null,
  size integer not null, created_at integer not null,
  unique(owner, namespace, id)) strict;
create index if not exists patch_blob on patch(blob_id);
create table if not exists tombstone(
  seq integer primary key autoincrement, id text not null, owner blob not null,
  namespace blob not null, at integer not null, quilt text,
  unique(owner, namespace, id)) strict;
create index if not exists tombstone_waiting on tombstone(owner, namespace, seq) where quilt is null;
create table if not exists move(
  seq integer primary key autoincrement, owner blob not null, namespace blob not null,
  from_id text not null, to_id text not null, at integer not null,
  told integer not null default 0) strict;
create index if not exists move_untold on move(seq) where told = 0;
create index if not exists move_from on move(owner, namespace, from_id);
create table if not exists kept(
  owner blob not null, namespace blob not null, id text not null, bytes blob not null,
  until integer not null, primary key(owner, namespace, id)) strict;
create index if not exists kept_until on kept(until);
create table if not exists digest(
  id text primary key, sha256 blob not null) strict, without rowid`;

/** A patch with its row number, in the order of storing, and the blob that holds it. */
export interface PlacedPatch extends StoredPatch {
  readonly seq: number;
  readonly blobId: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

type StoredRow = ScopeColumns & Omit<StoredBlob, keyof Scope | "quilt"> & {
  readonly quilt: number;
  readonly state: StoredState;
};

const STORED =
  `select object_id as objectId, blob_id as blobId, owner, namespace, holder, quilt, size,
  end_epoch as endEpoch, created_at as createdAt, state from stored`;
const PATCH =
  `select seq, id, blob_id as blobId, identifier, size, created_at as createdAt from patch
  where owner = ? and namespace = ?`;
const BY_ID = "where owner = ? and namespace = ? and id = ?";

/**
 * What the Walrus store knows here, in `walrus.db`: Blob objects, the patches in them, deletions,
 * moves and kept bytes. Reads are synchronous. Methods that change something must run inside
 * `database.write(() => …)`, so that what belongs together becomes durable together.
 */
export class Catalogue {
  readonly database: Database;

  /**
   * Opens `walrus.db` in a folder, or makes it.
   *
   * @param schema Tables of the parts that keep their own, made at every open when missing.
   * @throws {SvcError} `storage_unavailable` when it cannot be opened or is damaged.
   */
  constructor({ dataDir, schema = [] }: { dataDir: string; schema?: readonly string[] }) {
    this.database = new Database({
      path: `${dataDir}/walrus.db`,
      schema: [SCHEMA, ...schema].join(";"),
      remedy: "put back a copy of walrus.db, or remove it: stored blobs are found on chain again",
      pageSize: 16384,
    });
  }

  /** Adds a Blob object, or updates its holder, end and state. */
  addStored(blob: StoredBlob, state: StoredState = "live"): void {
    this.database.run(
      `insert into stored values(?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict(object_id) do update
       set holder = excluded.holder, end_epoch = excluded.end_epoch, state = excluded.state`,
      blob.objectId,
      blob.blobId,
      ...columnsOf(blob),
      blob.holder,
      blob.quilt ? 1 : 0,
      blob.size,
      blob.endEpoch,
      blob.createdAt,
      state,
    );
  }

  setState(objectId: string, state: StoredState): void {
    this.database.run("update stored set state = ? where object_id = ?", state, objectId);
  }

  /** Adds a patch of a scope; one that is known stays as it is. */
  addPatch(scope: Scope, blobId: string, patch: StoredPatch, createdAt: number): void {
    this.database.run(
      `insert into patch(id, owner, namespace, blob_id, identifier, size, created_at)
       values(?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
      patch.id,
      ...columnsOf(scope),
      blobId,
      patch.identifier,
      patch.size,
      createdAt,
    );
  }

  removePatch(scope: Scope, id: string): void {
    this.database.run(`delete from patch ${BY_ID}`, ...columnsOf(scope), id);
  }

  patch(scope: Scope, id: string): PlacedPatch | undefined {
    return this.database.get<PlacedPatch>(`${PATCH} and id = ?`, ...columnsOf(scope), id);
  }

  patchesIn(scope: Scope, blobId: string): PlacedPatch[] {
    const sql = `${PATCH} and blob_id = ? order by seq`;
    return this.database.all<PlacedPatch>(sql, ...columnsOf(scope), blobId);
  }

  /** Patches of a blob within a scope that are neither deleted nor moved. */
  livePatchesIn(scope: Scope, blobId: string): PlacedPatch[] {
    const sql = `${PATCH} and blob_id = ?
       and not exists (select 1 from tombstone as t where t.owner = patch.owner
         and t.namespace = patch.namespace and t.id = patch.id)
       and not exists (select 1 from move as m where m.owner = patch.owner
         and m.namespace = patch.namespace and m.from_id = patch.id) order by patch.seq`;
    return this.database.all<PlacedPatch>(sql, ...columnsOf(scope), blobId);
  }

  /** Live Blob objects of a scope, oldest first. */
  liveIn(scope: Scope): StoredBlob[] {
    const sql = `${STORED} where owner = ? and namespace = ? and state = 'live'
       order by created_at, object_id`;
    return this.database.all<StoredRow>(sql, ...columnsOf(scope)).map(storedOf);
  }

  /** The oldest live Blob object of a scope that holds this blob. */
  liveOf(scope: Scope, blobId: string): StoredBlob | undefined {
    const sql = `${STORED} where blob_id = ? and +owner = ? and +namespace = ? and +state = 'live'
       order by created_at, object_id limit 1`;
    const row = this.database.get<StoredRow>(sql, blobId, ...columnsOf(scope));
    return row && storedOf(row);
  }

  /** The Blob object with this id, whatever became of it. */
  stored(objectId: string): StoredBlob & { readonly state: StoredState } | undefined {
    const row = this.database.get<StoredRow>(`${STORED} where object_id = ?`, objectId);
    return row && { ...storedOf(row), state: row.state };
  }

  /** Every Blob object with these bytes, whatever became of it. */
  objectsOf(blobId: string): Pick<StoredBlob, "objectId" | "endEpoch">[] {
    const sql = `select object_id as objectId, end_epoch as endEpoch from stored where blob_id = ?`;
    return this.database.all(sql, blobId);
  }

  /** Scopes with live blobs, after the given one in the order of their bytes. */
  scopes(after: Scope | undefined, limit: number): Scope[] {
    return this.database.all<ScopeColumns>(
      `select distinct owner, namespace from stored where state = 'live'
       and (owner, namespace) > (?, ?) order by owner, namespace limit ?`,
      ...(after === undefined ? [new Uint8Array(), new Uint8Array()] : columnsOf(after)),
      limit,
    ).map(scopeOf);
  }

  /** Marks an id as deleted; one that is marked keeps its time. */
  addTombstone(scope: Scope, id: string, at: number, quilt?: string): void {
    const sql = `insert into tombstone(id, owner, namespace, at, quilt) values(?, ?, ?, ?, ?)
       on conflict(owner, namespace, id) do update set quilt = coalesce(excluded.quilt, quilt)`;
    this.database.run(sql, id, ...columnsOf(scope), at, quilt ?? null);
  }

  /** Forgets that an id was deleted: it was stored anew, or nothing of it is left. */
  removeTombstone(scope: Scope, id: string): void {
    this.database.run(`delete from tombstone ${BY_ID}`, ...columnsOf(scope), id);
  }

  isDeleted(scope: Scope, id: string): boolean {
    const sql = `select 1 from tombstone ${BY_ID}`;
    return this.database.get(sql, ...columnsOf(scope), id) !== undefined;
  }

  /** Ids whose deletion no quilt tells yet; the scope's next quilt will. */
  untoldTombstones(scope: Scope, limit: number): string[] {
    const sql = `select id from tombstone where owner = ? and namespace = ? and quilt is null
       order by seq limit ?`;
    return this.database.all<{ id: string }>(sql, ...columnsOf(scope), limit).map(({ id }) => id);
  }

  /** Notes which quilt tells of a deletion; with `undefined` the scope's next quilt tells it. */
  setTombstoneQuilt(scope: Scope, id: string, quilt: string | undefined): void {
    const sql = `update tombstone set quilt = ? ${BY_ID}`;
    this.database.run(sql, quilt ?? null, ...columnsOf(scope), id);
  }

  addMove({ from, to, ...scope }: BlobMove, at: number): void {
    const sql = "insert into move(owner, namespace, from_id, to_id, at) values(?, ?, ?, ?, ?)";
    this.database.run(sql, ...columnsOf(scope), from, to, at);
  }

  /** The target of an id's last move. */
  movedTo(scope: Scope, from: string): string | undefined {
    const sql = `select to_id as id from move where owner = ? and namespace = ? and from_id = ?
       order by seq desc limit 1`;
    return this.database.get<{ id: string }>(sql, ...columnsOf(scope), from)?.id;
  }

  /** Moves that no listener took note of, oldest first, with their numbers for `markTold`. */
  untoldMoves(limit: number): (BlobMove & { readonly seq: number })[] {
    return this.database.all<ScopeColumns & { seq: number; from: string; to: string }>(
      `select seq, owner, namespace, from_id as "from", to_id as "to" from move
       where told = 0 order by seq limit ?`,
      limit,
    ).map((row) => ({ ...row, ...scopeOf(row) }));
  }

  markTold(seq: number): void {
    this.database.run("update move set told = 1 where seq = ?", seq);
  }

  /** Keeps bytes until a time, milliseconds since the epoch. */
  keep(scope: Scope, id: string, bytes: Uint8Array, until: number): void {
    const sql = `insert into kept values(?, ?, ?, ?, ?)
       on conflict do update set until = max(until, excluded.until)`;
    this.database.run(sql, ...columnsOf(scope), id, bytes, until);
  }

  /** Bytes that are kept beyond `now`. */
  kept(scope: Scope, id: string, now: number): Uint8Array | undefined {
    const sql = `select bytes from kept ${BY_ID} and until > ?`;
    return this.database.get<{ bytes: Uint8Array }>(sql, ...columnsOf(scope), id, now)?.bytes;
  }

  /** Drops the bytes that are kept of an id, and its digest. */
  drop(scope: Scope, id: string): void {
    this.database.run(`delete from kept ${BY_ID}`, ...columnsOf(scope), id);
    this.dropDigest(id);
  }

  dropExpired(now: number): void {
    this.database.run("delete from kept where until <= ?", now);
  }

  noteDigest(id: string, sha256: Uint8Array): void {
    this.database.run("insert or ignore into digest values(?, ?)", id, sha256);
  }

  digestOf(id: string): Uint8Array | undefined {
    const sql = "select sha256 from digest where id = ?";
    return this.database.get<{ sha256: Uint8Array }>(sql, id)?.sha256;
  }

  dropDigest(id: string): void {
    this.database.run("delete from digest where id = ?", id);
  }
}

function storedOf({ state: _, ...row }: StoredRow): StoredBlob {
  return { ...row, ...scopeOf(row), quilt: row.quilt === 1 };
}
