import type { BlobLink, IndexEntry, OutdatedScope, Scope } from "../../src/interfaces/mod.ts";
import { type Database, fromColumn, toColumn } from "../sqlite/database.ts";
import type { IndexSeals, SingleRow } from "./index_seals.ts";
import { Segment } from "./segment.ts";

/** A memory on its way into the index: sealed, beside what stays visible. */
export interface SealedEntry extends Scope {
  /** Memory id. */
  readonly id: string;
  /** Version of the memory. */
  readonly version: number;
  /** Size counted for the scope. */
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly updatedAt: number;
  /** The packed memory, sealed. */
  readonly sealed: Uint8Array;
}

interface Place {
  readonly seq: number;
  readonly version: number;
  readonly bytes: number;
  readonly segment: number | null;
}

/** How memories are packed. */
export interface Packing {
  /** Length of the present model's vectors. */
  readonly dimensions: number;
  /** Number of the present model in the file. */
  readonly model: number;
  /** Memories packed together. */
  readonly segmentSize: number;
}

interface TailRow extends SingleRow {
  readonly seq: number;
  readonly id: Uint8Array;
}

/** Rows of `index.db`. Whatever changes rows must run inside a write transaction. */
export class IndexRows {
  readonly #database: Database;
  readonly #seals: IndexSeals;
  readonly #dimensions: number;
  readonly #model: number;
  readonly #segmentSize: number;

  /** Reads and writes through one open file. */
  constructor(database: Database, seals: IndexSeals, packing: Packing) {
    this.#database = database;
    this.#seals = seals;
    this.#dimensions = packing.dimensions;
    this.#model = packing.model;
    this.#segmentSize = packing.segmentSize;
  }

  /** Seals a memory; needs no transaction. */
  seal(entry: IndexEntry): SealedEntry {
    const { owner, namespace, id, version, bytes, updatedAt } = entry;
    return {
      owner,
      namespace,
      id,
      version,
      bytes,
      updatedAt,
      sealed: this.#seals.sealEntry(entry, this.#dimensions),
    };
  }

  /** Row id of a scope, when it was ever written. */
  scopeId({ owner, namespace }: Scope): number | undefined {
    return this.#database.get<{ id: number }>(
      "select id from scope where owner = ? and namespace = ?",
      toColumn(owner),
      toColumn(namespace),
    )?.id;
  }

  /** Adds or replaces memories; a lower version than the stored one is ignored. */
  upsert(entries: readonly SealedEntry[]): void {
    const touched = new Map<number, Scope>();
    const emptied = new Map<number, Set<string>>();
    for (const entry of entries) {
      const scope = this.scopeId(entry) ?? this.#addScope(entry);
      const old = this.#place(scope, entry.id);
      if (old !== undefined && old.version > entry.version) continue;
      if (old !== undefined) this.#forget(scope, old, entry.id, emptied);
      touched.set(scope, entry);
      const seq = this.#database.run(
        "insert into entry(scope, id, version, bytes) values(?, ?, ?, ?)",
        scope,
        toColumn(entry.id),
        entry.version,
        entry.bytes,
      );
      this.#addTail(seq, entry.sealed, this.#model);
      this.#database.run(
        `update scope set count = count + 1, bytes = bytes + ?, last_write = max(last_write, ?)
         where id = ?`,
        entry.bytes,
        entry.updatedAt,
        scope,
      );
    }
    this.#thin(emptied);
    for (const [id, scope] of touched) this.#pack(id, scope);
  }

  /** Records blob ids; unknown memories and other versions are ignored. */
  link(scope: Scope, links: readonly BlobLink[]): void {
    const scopeId = this.scopeId(scope);
    if (scopeId === undefined) return;
    const segments = new Set<number>();
    for (const { id, version, blobId } of links) {
      const place = this.#place(scopeId, id);
      if (place?.version !== version) continue;
      const sealed = this.#seals.sealLink(scope, id, version, blobId);
      this.#database.run("update entry set blob = ? where seq = ?", sealed, place.seq);
      if (place.segment !== null) segments.add(place.segment);
    }
    // Opening a link costs as much as opening kilobytes of a segment: few may wait beside it.
    for (const seq of segments) {
      const waiting = this.#database.get<{ count: number }>(
        "select count(*) as count from entry where segment = ? and blob is not null",
        seq,
      );
      if (waiting!.count * 4 >= this.#segmentSize) this.#rewrite(seq, new Set());
    }
  }

  /** Removes memories; unknown ids are ignored. */
  remove(scope: Scope, ids: readonly string[]): void {
    const scopeId = this.scopeId(scope);
    if (scopeId === undefined) return;
    const emptied = new Map<number, Set<string>>();
    for (const id of ids) {
      const place = this.#place(scopeId, id);
      if (place !== undefined) this.#forget(scopeId, place, id, emptied);
    }
    this.#thin(emptied);
    this.#pack(scopeId, scope);
  }

  /** Memories of a scope that are in no segment, oldest first. */
  tail(scopeId: number, scope: Scope): Segment[] {
    const rows = this.#database.all<TailRow>(
      `select e.seq, e.id, e.version, e.blob, t.sealed, t.model
       from entry e join tail t on t.seq = e.seq
       where e.scope = ? and e.segment is null order by e.seq`,
      scopeId,
    );
    return rows.map((row) => this.#seals.openEntry(scope, fromColumn(row.id), row));
  }

  /** Scopes that hold vectors of another model. */
  outdated(): OutdatedScope[] {
    // Nearly always there are none, which the indexes on the model tell at once.
    const some = this.#database.get(
      `select 1 where exists(select 1 from tail where model < ?1 or model > ?1)
       or exists(select 1 from segment where model < ?1 or model > ?1)`,
      this.#model,
    );
    if (some === undefined) return [];
    const rows = this.#database.all<RawScope & { count: number }>(
      `select s.owner, s.namespace, count(*) as count from scope s join entry e on e.scope = s.id
       where e.seq in (select seq from tail where model != ?1)
       or e.segment in (select seq from segment where model != ?1)
       group by s.id`,
      this.#model,
    );
    return rows.map(({ owner, namespace, count }) => {
      return { owner: fromColumn(owner), namespace: fromColumn(namespace), count };
    });
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

  #addScope({ owner, namespace }: Scope): number {
    return this.#database.run(
      "insert into scope(owner, namespace, count, bytes, last_write) values(?, ?, 0, 0, 0)",
      toColumn(owner),
      toColumn(namespace),
    );
  }

  #place(scope: number, id: string): Place | undefined {
    return this.#database.get<Place>(
      "select seq, version, bytes, segment from entry where id = ? and scope = ?",
      toColumn(id),
      scope,
    );
  }

  #addTail(seq: number, sealed: Uint8Array, model: number): void {
    this.#database.run("insert into tail values(?, ?, ?)", seq, sealed, model);
  }

  /** Drops the row of a memory and notes the segment that still holds it. */
  #forget(scope: number, place: Place, id: string, emptied: Map<number, Set<string>>): void {
    this.#database.run("delete from entry where seq = ?", place.seq);
    this.#database.run(
      "update scope set count = count - 1, bytes = bytes - ? where id = ?",
      place.bytes,
      scope,
    );
    if (place.segment === null) {
      this.#database.run("delete from tail where seq = ?", place.seq);
      return;
    }
    const ids = emptied.get(place.segment) ?? new Set();
    emptied.set(place.segment, ids.add(id));
  }

  /** Takes forgotten memories out of their segments. */
  #thin(emptied: ReadonlyMap<number, ReadonlySet<string>>): void {
    for (const [seq, ids] of emptied) {
      const left = this.#database.get(
        `select 1 from entry
         where segment = ?1 and scope = (select scope from segment where seq = ?1) limit 1`,
        seq,
      );
      if (left !== undefined) this.#rewrite(seq, ids);
      else this.#database.run("delete from segment where seq = ?", seq);
    }
  }

  /** Writes a segment again, without some memories and with the blob ids recorded since. */
  #rewrite(seq: number, without: ReadonlySet<string>): void {
    const row = this.#database.get<
      { scope: number; sealed: Uint8Array; model: number } & RawScope
    >(
      `select g.scope, g.sealed, g.model, s.owner, s.namespace
       from segment g join scope s on s.id = g.scope where g.seq = ?`,
      seq,
    )!;
    const scope = { owner: fromColumn(row.owner), namespace: fromColumn(row.namespace) };
    const packed = this.#seals.openSegment(seq, scope, row.sealed);
    // Vectors of another model stay as they are.
    const segment = new Segment(scope, packed, this.links(seq, scope));
    const { dimensions } = segment;
    const entries = segment.entries().filter(({ id }) => !without.has(id));
    // A nearly empty segment costs a whole page of a scan: its rest goes back to single rows.
    if (entries.length * 16 >= this.#segmentSize) {
      this.#database.run(
        "update segment set sealed = ? where seq = ?",
        this.#seals.sealSegment(seq, scope, entries, dimensions),
        seq,
      );
      this.#database.run(
        "update entry set blob = null where segment = ? and blob is not null",
        seq,
      );
      return;
    }
    this.#database.run("delete from segment where seq = ?", seq);
    for (const entry of entries) {
      const place = this.#place(row.scope, entry.id)!;
      this.#addTail(place.seq, this.#seals.sealEntry(entry, dimensions), row.model);
      this.#database.run(
        "update entry set segment = null, blob = null where seq = ?",
        place.seq,
      );
    }
  }

  /**
   * Moves the oldest single rows of a scope into segments while there are enough of them. Those of
   * another model stay single: they are to be written anew.
   */
  #pack(scopeId: number, scope: Scope): void {
    const waiting = this.#database.get<{ count: number }>(
      `select count(*) as count from entry e join tail t on t.seq = e.seq
       where e.scope = ? and e.segment is null and t.model = ?`,
      scopeId,
      this.#model,
    )!;
    for (let left = waiting.count; left >= this.#segmentSize; left -= this.#segmentSize) {
      const rows = this.#database.all<TailRow>(
        `select e.seq, e.id, e.version, e.blob, t.sealed, t.model
         from entry e join tail t on t.seq = e.seq
         where e.scope = ? and e.segment is null and t.model = ? order by e.seq limit ?`,
        scopeId,
        this.#model,
        this.#segmentSize,
      );
      const entries = rows.map((row) =>
        this.#seals.openEntry(scope, fromColumn(row.id), row).entry(0)
      );
      const seq = this.#database.run(
        "insert into segment(scope, sealed, model) values(?, x'', ?)",
        scopeId,
        this.#model,
      );
      this.#database.run(
        "update segment set sealed = ? where seq = ?",
        this.#seals.sealSegment(seq, scope, entries, this.#dimensions),
        seq,
      );
      this.#database.run(
        `update entry set segment = ?1, blob = null
         where scope = ?2 and segment is null and seq <= ?3
         and seq in (select seq from tail where model = ?4 and seq <= ?3)`,
        seq,
        scopeId,
        rows.at(-1)!.seq,
        this.#model,
      );
      this.#database.run(
        "delete from tail where seq in (select seq from entry where segment = ?)",
        seq,
      );
    }
  }
}

interface RawScope {
  readonly owner: Uint8Array;
  readonly namespace: Uint8Array;
}
