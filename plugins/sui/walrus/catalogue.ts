import type { BlobMove, Scope } from "../../../src/interfaces/mod.ts";
import { columnsOf, Database, scopeOf } from "../../../src/storage/sqlite/database.ts";
import { CATALOGUE_SCHEMA } from "./catalogue_schema.ts";
import type { StoredBlob, StoredPatch, StoredState, Tombstone } from "./stored_blob.ts";

/** Settings of a {@linkcode Catalogue}. */
export interface CatalogueOptions {
  /** Folder of `walrus.db`. */
  readonly dataDir: string;
  /** Tables of the parts that keep their own, made at every open when missing. */
  readonly schema?: readonly string[];
}

/** A patch with its place. */
export interface PlacedPatch extends StoredPatch {
  /** Place in the order of storing, rising. */
  readonly seq: number;
  /** The blob that holds it. */
  readonly blobId: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** A move not told yet. */
export interface UntoldMove extends BlobMove {
  /** Its number, for {@linkcode Catalogue.markTold}. */
  readonly seq: number;
}

interface StoredRow {
  object_id: string;
  blob_id: string;
  owner: Uint8Array;
  namespace: Uint8Array;
  holder: string;
  quilt: number;
  size: number;
  end_epoch: number;
  created_at: number;
}

/**
 * What the Walrus store knows here, in `walrus.db`: Blob objects, the patches in them, deletions,
 * moves and kept bytes. Reads are synchronous. Methods that change something must run inside
 * `database.write(() => …)`, so that what belongs together becomes durable together.
 */
export class Catalogue {
  /** The file. */
  readonly database: Database;

  /**
   * Opens the file, or makes it.
   * @throws {SvcError} `storage_unavailable` when it cannot be opened or is damaged.
   */
  constructor({ dataDir, schema = [] }: CatalogueOptions) {
    this.database = new Database({
      path: `${dataDir}/walrus.db`,
      schema: [CATALOGUE_SCHEMA, ...schema].join(";"),
      remedy: "put back a copy of walrus.db, or remove it: stored blobs are found on chain again",
      pageSize: 16384,
    });
  }

  /** Adds a Blob object, or renews what is known of it. */
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

  /** Sets what became of a Blob object. */
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

  /** Forgets a patch. */
  removePatch(scope: Scope, id: string): void {
    const sql = "delete from patch where owner = ? and namespace = ? and id = ?";
    this.database.run(sql, ...columnsOf(scope), id);
  }

  /** The patch of a scope with this id. */
  patch(scope: Scope, id: string): PlacedPatch | undefined {
    return this.database.get<PlacedPatch>(
      `select ${PATCH} from patch where owner = ? and namespace = ? and id = ?`,
      ...columnsOf(scope),
      id,
    );
  }

  /** Patches of a scope, newest first, older than `before`. */
  patchesOf(scope: Scope, before: number, limit: number): PlacedPatch[] {
    return this.database.all<PlacedPatch>(
      `select ${PATCH} from patch where owner = ? and namespace = ? and seq < ?
       order by seq desc limit ?`,
      ...columnsOf(scope),
      before,
      limit,
    );
  }

  /** Patches of a blob within a scope. */
  patchesIn(scope: Scope, blobId: string): PlacedPatch[] {
    return this.database.all<PlacedPatch>(
      `select ${PATCH} from patch where owner = ? and namespace = ? and blob_id = ? order by seq`,
      ...columnsOf(scope),
      blobId,
    );
  }

  /** Live Blob objects, those that end first coming first. */
  live(limit: number, endingBefore = Number.MAX_SAFE_INTEGER): StoredBlob[] {
    return this.database.all<StoredRow>(
      `select * from stored where state = 'live' and end_epoch < ? order by end_epoch limit ?`,
      endingBefore,
      limit,
    ).map(storedOf);
  }

  /** Live Blob objects of a scope, oldest first. */
  liveIn(scope: Scope): StoredBlob[] {
    return this.database.all<StoredRow>(
      `select * from stored where owner = ? and namespace = ? and state = 'live'
       order by created_at, object_id`,
      ...columnsOf(scope),
    ).map(storedOf);
  }

  /** A live Blob object of a scope that holds this blob. */
  liveOf(scope: Scope, blobId: string): StoredBlob | undefined {
    const row = this.database.get<StoredRow>(
      `select * from stored where blob_id = ? and +owner = ? and +namespace = ? and +state = 'live'
       order by created_at, object_id limit 1`,
      blobId,
      ...columnsOf(scope),
    );
    return row === undefined ? undefined : storedOf(row);
  }

  /** The Blob object with this id, whatever became of it. */
  stored(objectId: string): StoredBlob & { readonly state: StoredState } | undefined {
    const row = this.database.get<StoredRow & { state: StoredState }>(
      "select * from stored where object_id = ?",
      objectId,
    );
    return row === undefined ? undefined : { ...storedOf(row), state: row.state };
  }

  /** Scopes with live blobs, after the given one in the order of their bytes. */
  scopes(after: Scope | undefined, limit: number): Scope[] {
    return this.database.all<{ owner: Uint8Array; namespace: Uint8Array }>(
      `select distinct owner, namespace from stored where state = 'live'
       and (owner, namespace) > (?, ?) order by owner, namespace limit ?`,
      ...(after === undefined ? [new Uint8Array(), new Uint8Array()] as const : columnsOf(after)),
      limit,
    ).map(scopeOf);
  }

  /** Marks an id as deleted; one that is marked stays as it is. */
  addTombstone(scope: Scope, id: string, at: number, quilt?: string): void {
    this.database.run(
      `insert into tombstone(id, owner, namespace, at, quilt) values(?, ?, ?, ?, ?)
       on conflict(owner, namespace, id) do update set quilt = coalesce(excluded.quilt, quilt)`,
      id,
      ...columnsOf(scope),
      at,
      quilt ?? null,
    );
  }

  /** Forgets that an id was deleted: it was stored anew, or nothing of it is left. */
  removeTombstone(scope: Scope, id: string): void {
    const sql = "delete from tombstone where owner = ? and namespace = ? and id = ?";
    this.database.run(sql, ...columnsOf(scope), id);
  }

  /** Whether an id was deleted. */
  isDeleted(scope: Scope, id: string): boolean {
    const sql = "select 1 from tombstone where owner = ? and namespace = ? and id = ?";
    return this.database.get(sql, ...columnsOf(scope), id) !== undefined;
  }

  /** Deletions of a scope, oldest first. */
  tombstonesOf(scope: Scope): Tombstone[] {
    return this.database.all<{ id: string; at: number; quilt: string | null }>(
      `select id, at, quilt from tombstone where owner = ? and namespace = ? order by seq`,
      ...columnsOf(scope),
    ).map(({ quilt, ...row }) => ({ ...scope, ...row, ...(quilt === null ? {} : { quilt }) }));
  }

  /** Ids whose deletion no quilt tells yet; the next one of the scope takes them along. */
  untoldTombstones(scope: Scope, limit: number): string[] {
    return this.database.all<{ id: string }>(
      `select id from tombstone where owner = ? and namespace = ? and quilt is null
       order by seq limit ?`,
      ...columnsOf(scope),
      limit,
    ).map(({ id }) => id);
  }

  /** Notes which quilt tells of a deletion; `undefined` has the next quilt tell it again. */
  setTombstoneQuilt(scope: Scope, id: string, quilt: string | undefined): void {
    this.database.run(
      "update tombstone set quilt = ? where owner = ? and namespace = ? and id = ?",
      quilt ?? null,
      ...columnsOf(scope),
      id,
    );
  }

  /** Notes that an id moved. */
  addMove({ from, to, ...scope }: BlobMove, at: number): void {
    this.database.run(
      "insert into move(owner, namespace, from_id, to_id, at) values(?, ?, ?, ?, ?)",
      ...columnsOf(scope),
      from,
      to,
      at,
    );
  }

  /** Where an id moved to last, directly. */
  movedTo(scope: Scope, from: string): string | undefined {
    return this.database.get<{ id: string }>(
      `select to_id as id from move where owner = ? and namespace = ? and from_id = ?
       order by seq desc limit 1`,
      ...columnsOf(scope),
      from,
    )?.id;
  }

  /** Moves no listener took note of, oldest first. */
  untoldMoves(limit: number): UntoldMove[] {
    return this.database.all<
      { seq: number; owner: Uint8Array; namespace: Uint8Array; from_id: string; to_id: string }
    >("select * from move where told = 0 order by seq limit ?", limit).map((row) => ({
      ...scopeOf(row),
      seq: row.seq,
      from: row.from_id,
      to: row.to_id,
    }));
  }

  /** Notes that a listener took note of a move. */
  markTold(seq: number): void {
    this.database.run("update move set told = 1 where seq = ?", seq);
  }

  /** Keeps bytes until a time, milliseconds since the epoch. */
  keep(scope: Scope, id: string, bytes: Uint8Array, until: number): void {
    this.database.run(
      `insert into kept values(?, ?, ?, ?, ?)
       on conflict do update set until = max(until, excluded.until)`,
      ...columnsOf(scope),
      id,
      bytes,
      until,
    );
  }

  /** Kept bytes. */
  kept(scope: Scope, id: string, now: number): Uint8Array | undefined {
    return this.database.get<{ bytes: Uint8Array }>(
      "select bytes from kept where owner = ? and namespace = ? and id = ? and until > ?",
      ...columnsOf(scope),
      id,
      now,
    )?.bytes;
  }

  /** Drops kept bytes of one id. */
  drop(scope: Scope, id: string): void {
    const sql = "delete from kept where owner = ? and namespace = ? and id = ?";
    this.database.run(sql, ...columnsOf(scope), id);
  }

  /** Drops kept bytes whose time is over. */
  dropExpired(now: number): void {
    this.database.run("delete from kept where until <= ?", now);
  }

  /** Finishes the writes under way and closes the file. */
  async close(): Promise<void> {
    await this.database.close();
  }
}

const PATCH = "seq, id, blob_id as blobId, identifier, size, created_at as createdAt";

function storedOf(row: StoredRow): StoredBlob {
  return {
    ...scopeOf(row),
    objectId: row.object_id,
    blobId: row.blob_id,
    holder: row.holder,
    quilt: row.quilt === 1,
    size: row.size,
    endEpoch: row.end_epoch,
    createdAt: row.created_at,
  };
}
