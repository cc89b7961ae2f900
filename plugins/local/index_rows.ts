import type { BlobLink, IndexEntry, OutdatedScope, Scope } from "../../src/interfaces/mod.ts";
import {
  columnsOf,
  type Database,
  fromColumn,
  type ScopeColumns,
  scopeOf,
  toColumn,
} from "../../src/storage/sqlite/database.ts";
import { Segment } from "../shared/rows/segment.ts";
import type { IndexSeals } from "./index_seals.ts";

/** A memory on its way into the index: sealed, beside what stays visible. */
type SealedEntry = Omit<IndexEntry, "vectors" | "payload"> & {
  readonly sealed: Uint8Array;
  /** Its blob id, sealed; `null` while it has none. */
  readonly link: Uint8Array | null;
};

interface Place {
  readonly seq: number;
  readonly version: number;
  readonly bytes: number;
  readonly segment: number | null;
}

export interface Packing {
  /** Length of the present model's vectors. */
  readonly dimensions: number;
  /** Number of the present model in the file. */
  readonly model: number;
  readonly segmentSize: number;
}

/** A memory that is in no segment, or in one that was written lately. */
interface LooseRow {
  /** Its number: a memory keeps it until it is written again. */
  readonly seq: number;
  readonly id: Uint8Array;
  readonly version: number;
  /** Blob id recorded since it was sealed or packed, sealed. */
  readonly blob: Uint8Array | null;
  /** The segment it is in by now. */
  readonly segment: number | null;
  /** The packed memory, sealed, where it is in none. */
  readonly sealed: Uint8Array | null;
  /** Number of the model whose vectors that holds. */
  readonly model: number | null;
}

/** Rows of `index.db`. Whatever changes rows must run inside a write transaction. */
export class IndexRows {
  readonly #database: Database;
  readonly #seals: IndexSeals;
  readonly #packing: Packing;
  /** Numbers are not used again while this process runs, which `Packer` relies on. */
  #lastSeq: number;

  constructor(database: Database, seals: IndexSeals, packing: Packing) {
    this.#database = database;
    this.#seals = seals;
    this.#packing = packing;
    const last = database.get<{ seq: number | null }>("select max(seq) as seq from entry");
    this.#lastSeq = last?.seq ?? 0;
  }

  seal(entry: IndexEntry): SealedEntry {
    const { vectors: _, payload: __, ...kept } = entry;
    const { id, version, blobId } = kept;
    const link = blobId === undefined ? null : this.#seals.sealLink(kept, id, version, blobId);
    return { ...kept, sealed: this.#seals.sealRow("entry", entry, this.#packing.dimensions), link };
  }

  /** Row id of a scope, when it was ever written. */
  scopeId({ owner, namespace }: Scope): number | undefined {
    const sql = "select id from scope where owner = ? and namespace = ?";
    return this.#database.get<{ id: number }>(sql, toColumn(owner), toColumn(namespace))?.id;
  }

  /**
   * Adds or replaces memories; a lower version than the stored one is ignored.
   *
   * @returns the scopes that were written to, by row id.
   */
  upsert(entries: readonly SealedEntry[]): Map<number, Scope> {
    const touched = new Map<number, Scope>();
    const emptied = new Map<number, Set<string>>();
    for (const entry of entries) {
      const scope = this.scopeId(entry) ?? this.#addScope(entry);
      const old = this.#place(scope, entry.id);
      if (old !== undefined && old.version > entry.version) continue;
      if (old !== undefined) this.#forget(scope, old, entry.id, emptied);
      touched.set(scope, entry);
      const seq = ++this.#lastSeq;
      this.#database.run(
        "insert into entry(seq, scope, id, version, bytes, blob) values(?, ?, ?, ?, ?, ?)",
        seq,
        scope,
        toColumn(entry.id),
        entry.version,
        entry.bytes,
        entry.link,
      );
      this.#addTail(seq, entry.sealed, this.#packing.model);
      this.#database.run(
        `update scope set count = count + 1, bytes = bytes + ?, last_write = max(last_write, ?)
         where id = ?`,
        entry.bytes,
        entry.updatedAt,
        scope,
      );
    }
    this.#thin(emptied);
    return touched;
  }

  /**
   * Records blob ids; unknown memories and other versions are ignored.
   *
   * @returns row id of the scope, when it was ever written, and how many wait beside segments now.
   */
  link(
    scope: Scope,
    links: readonly BlobLink[],
  ): { readonly scopeId: number; readonly beside: number } | undefined {
    const scopeId = this.scopeId(scope);
    if (scopeId === undefined) return undefined;
    let beside = 0;
    for (const { id, version, blobId } of links) {
      const place = this.#place(scopeId, id);
      if (place?.version !== version) continue;
      const sealed = this.#seals.sealLink(scope, id, version, blobId);
      this.#database.run("update entry set blob = ? where seq = ?", sealed, place.seq);
      if (place.segment !== null) beside++;
    }
    return { scopeId, beside };
  }

  /**
   * Removes memories; unknown ids are ignored.
   *
   * @returns row id of the scope, when it was ever written.
   */
  remove(scope: Scope, ids: readonly string[]): number | undefined {
    const scopeId = this.scopeId(scope);
    if (scopeId === undefined) return undefined;
    const emptied = new Map<number, Set<string>>();
    for (const id of ids) {
      const place = this.#place(scopeId, id);
      if (place !== undefined) this.#forget(scopeId, place, id, emptied);
    }
    this.#thin(emptied);
    return scopeId;
  }

  /**
   * The first memories of a scope behind the number `after` that are in no segment, or in one after
   * `segment`, by number. Packing them meanwhile changes neither their numbers nor whether they are
   * listed.
   */
  loose(scopeId: number, segment: number, after: number, limit: number): LooseRow[] {
    const columns = "e.seq, e.id, e.version, e.blob, e.segment";
    const inNone = `select ${columns}, t.sealed, t.model from entry e join tail t on t.seq = e.seq
       where e.scope = ? and e.segment is null and e.seq > ? order by e.seq limit ?`;
    const single = this.#database.all<LooseRow>(inNone, scopeId, after, limit);
    const later = "select 1 from segment where scope = ? and seq > ? limit 1";
    const isPacking = this.#database.get(later, scopeId, segment);
    if (isPacking === undefined) return single;
    const sql = `select ${columns}, null as sealed, null as model from entry e
       where e.scope = ? and e.segment > ? and e.seq > ? order by e.seq limit ?`;
    const packed = this.#database.all<LooseRow>(sql, scopeId, segment, after, limit);
    return [...single, ...packed].sort((a, b) => a.seq - b.seq).slice(0, limit);
  }

  /** Opens a memory that is in no segment; `undefined` for others. */
  single(scope: Scope, { id, version, blob: link, sealed, model }: LooseRow): Segment | undefined {
    if (sealed === null) return undefined;
    return this.#seals.openSingle({ scope, id: fromColumn(id), version, sealed, link }, model!);
  }

  /** Scopes that hold vectors of another model. */
  outdated(): OutdatedScope[] {
    // Nearly always there are none, which the indexes on the model tell at once.
    const sql = `select 1 where exists(select 1 from tail where model < ?1 or model > ?1)
       or exists(select 1 from segment where model < ?1 or model > ?1)`;
    const { model } = this.#packing;
    if (this.#database.get(sql, model) === undefined) return [];
    const rows = this.#database.all<ScopeColumns & { count: number }>(
      `select s.owner, s.namespace, count(*) as count from scope s join entry e on e.scope = s.id
       where e.seq in (select seq from tail where model != ?1)
       or e.segment in (select seq from segment where model != ?1)
       group by s.id`,
      model,
    );
    return rows.map((row) => ({ ...scopeOf(row), count: row.count }));
  }

  /** Blob ids recorded since a segment was written, by memory id. */
  links(segment: number, scope: Scope): Map<string, string> {
    const rows = this.#database.all<{ id: Uint8Array; version: number; blob: Uint8Array }>(
      "select id, version, blob from entry where segment = ? and blob is not null",
      segment,
    );
    return new Map(rows.map((row) => {
      const id = fromColumn(row.id);
      return [id, this.#seals.openLink(scope, id, row.version, row.blob)];
    }));
  }

  #addScope(scope: Scope): number {
    const sql =
      "insert into scope(owner, namespace, count, bytes, last_write) values(?, ?, 0, 0, 0)";
    return this.#database.run(sql, ...columnsOf(scope));
  }

  #place(scope: number, id: string): Place | undefined {
    const sql = "select seq, version, bytes, segment from entry where id = ? and scope = ?";
    return this.#database.get<Place>(sql, toColumn(id), scope);
  }

  #addTail(seq: number, sealed: Uint8Array, model: number): void {
    this.#database.run("insert into tail values(?, ?, ?)", seq, sealed, model);
  }

  /** Drops the row of a memory and notes the segment that still holds it. */
  #forget(scope: number, place: Place, id: string, emptied: Map<number, Set<string>>): void {
    this.#database.run("delete from entry where seq = ?", place.seq);
    const sql = "update scope set count = count - 1, bytes = bytes - ? where id = ?";
    this.#database.run(sql, place.bytes, scope);
    if (place.segment === null) {
      this.#database.run("delete from tail where seq = ?", place.seq);
      return;
    }
    emptied.getOrInsertComputed(place.segment, () => new Set()).add(id);
  }

  /** Takes forgotten memories out of their segments. */
  #thin(emptied: ReadonlyMap<number, ReadonlySet<string>>): void {
    for (const [seq, ids] of emptied) {
      const sql = `select 1 from entry
         where segment = ?1 and scope = (select scope from segment where seq = ?1) limit 1`;
      const left = this.#database.get(sql, seq);
      if (left !== undefined) this.#rewrite(seq, ids);
      else this.#database.run("delete from segment where seq = ?", seq);
    }
  }

  /** Writes a segment again, without some memories and with the blob ids recorded since. */
  #rewrite(seq: number, without: ReadonlySet<string>): void {
    const sql = `select g.scope, g.sealed, g.model, s.owner, s.namespace
       from segment g join scope s on s.id = g.scope where g.seq = ?`;
    const row = this.#database.get<
      ScopeColumns & { scope: number; sealed: Uint8Array; model: number }
    >(sql, seq)!;
    const scope = scopeOf(row);
    const packed = this.#seals.openSegment(seq, scope, row.sealed);
    // Vectors of another model stay as they are.
    const segment = new Segment(scope, packed, this.links(seq, scope));
    const { dimensions } = segment;
    const entries = segment.entries().filter(({ id }) => !without.has(id));
    // A nearly empty segment costs a whole page of a scan: its rest goes back to single rows.
    if (entries.length * 16 >= this.#packing.segmentSize) {
      const sealed = this.#seals.sealSegment(seq, scope, entries, dimensions);
      this.#database.run("update segment set sealed = ? where seq = ?", sealed, seq);
      const sql = "update entry set blob = null where segment = ? and blob is not null";
      this.#database.run(sql, seq);
      return;
    }
    this.#database.run("delete from segment where seq = ?", seq);
    for (const entry of entries) {
      const place = this.#place(row.scope, entry.id)!;
      this.#addTail(place.seq, this.#seals.sealRow("entry", entry, dimensions), row.model);
      const { id, version, blobId } = entry;
      this.#database.run(
        "update entry set segment = null, blob = ? where seq = ?",
        blobId === undefined ? null : this.#seals.sealLink(entry, id, version, blobId),
        place.seq,
      );
    }
  }
}
