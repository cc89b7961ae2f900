import { SvcError } from "../../src/errors.ts";
import type { BlobLink, IndexEntry, Scope } from "../../src/interfaces/mod.ts";
import {
  columnsOf,
  type Database,
  fromColumn,
  type ScopeColumns,
  scopeOf,
  toColumn,
} from "../../src/storage/sqlite/database.ts";
import type { Packing } from "./packing.ts";

export interface Place {
  /** Number of its rows, in the order of writing. */
  readonly seq: number;
  readonly scope: Scope;
  readonly id: string;
  readonly version: number;
  /** Blob id that was recorded after the memory was sealed, sealed itself; else null. */
  readonly link: Uint8Array | null;
  /** The whole memory, sealed, while it waits; null when it is in the table. */
  readonly waiting: Uint8Array | null;
}

/** A scope's number, and how much of it is in the table. */
export interface ScopeRow {
  readonly id: number;
  /** Rows in the table: one a window. */
  readonly flushed: number;
}

type Row = Omit<Place, "scope" | "id"> & ScopeColumns & { readonly id: Uint8Array };

const SELECT = `select e.seq, s.owner, s.namespace, e.id, e.version, e.blob as link,
  t.sealed as waiting
  from entry e join scope s on s.id = e.scope left join tail t on t.seq = e.seq`;

function placeOf({ owner, namespace, id, ...rest }: Row): Place {
  return { ...rest, scope: scopeOf({ owner, namespace }), id: fromColumn(id) };
}

/**
 * The memories of the store, in SQLite. Every write is durable and unique here first, and goes into
 * the LanceDB table in batches: LanceDB fsyncs nothing, keeps no key unique and slows down with every
 * small commit.
 */
export class Catalog {
  readonly #database: Database;
  readonly #packing: Packing;

  constructor(database: Database, packing: Packing) {
    this.#database = database;
    this.#packing = packing;
  }

  /** Adds or replaces memories; a lower version than the stored one is ignored. */
  async upsert(entries: readonly IndexEntry[], signal?: AbortSignal): Promise<void> {
    this.#database.check(signal);
    const sealed = entries.map((entry) => ({ entry, bytes: this.#packing.sealWhole(entry) }));
    if (sealed.length === 0) return;
    await this.#database.write(() => {
      for (const { entry, bytes } of sealed) this.#upsert(entry, bytes);
    }, signal);
  }

  /** Records blob ids; unknown memories and other versions are ignored. */
  async link(scope: Scope, links: readonly BlobLink[], signal?: AbortSignal): Promise<void> {
    this.#database.check(signal);
    const sealed = links.map(({ id, version, blobId }) => ({
      id: toColumn(id),
      version,
      bytes: this.#packing.sealLink(scope, id, version, blobId),
    }));
    await this.#database.write(() => {
      const row = this.scope(scope);
      for (const { id, version, bytes } of row === undefined ? [] : sealed) {
        const update = "update entry set blob = ? where id = ? and scope = ? and version = ?";
        this.#database.run(update, bytes, id, row!.id, version);
      }
    }, signal);
  }

  /** Removes memories; unknown ids are ignored. */
  async remove(scope: Scope, ids: readonly string[], signal?: AbortSignal): Promise<void> {
    const gone = [...ids];
    await this.#database.write(() => {
      const row = this.scope(scope);
      for (const id of row === undefined ? [] : gone) this.#drop(row!.id, id);
    }, signal);
  }

  /** A scope that was written once. */
  scope(scope: Scope): ScopeRow | undefined {
    const sql = "select id, flushed from scope where owner = ? and namespace = ?";
    return this.#database.get<ScopeRow>(sql, ...columnsOf(scope));
  }

  /** Where the owner's memories with these ids are. */
  find(owner: string, ids: readonly string[]): Place[] {
    const sql = `${SELECT} where e.id = ? and s.owner = ?`;
    const at = toColumn(owner);
    return ids.flatMap((id) => this.#database.all<Row>(sql, toColumn(id), at)).map(placeOf);
  }

  /** The memories of a scope after a number, in the order of writing. */
  page(scope: number, after: number, limit: number): Place[] {
    const sql = `${SELECT} where e.scope = ? and e.seq > ? order by e.seq limit ?`;
    return this.#database.all<Row>(sql, scope, after, limit).map(placeOf);
  }

  /**
   * The number up to which every memory of a scope that has vectors is in the table: they are
   * carried over in the order of writing.
   */
  lastCarried(scope: number): number {
    const sql = "select seq from entry where scope = ? and flushed = 1 order by seq desc limit 1";
    return this.#database.get<{ seq: number }>(sql, scope)?.seq ?? 0;
  }

  /** The memories of a scope after a number that have vectors, in the table or not. */
  withVectors(scope: number, after: number): Place[] {
    const sql = `${SELECT} where e.scope = ? and e.seq > ? and e.windows > 0`;
    return this.#database.all<Row>(sql, scope, after).map(placeOf);
  }

  /** The memories behind numbers read from the table; what was removed since is left out. */
  live(seqs: readonly number[]): Place[] {
    const sql = `${SELECT} where e.seq = ?`;
    return seqs.flatMap((seq) => this.#database.all<Row>(sql, seq)).map(placeOf);
  }

  #upsert(entry: IndexEntry, sealed: Uint8Array): void {
    const scope = this.scope(entry)?.id ?? this.#database.run(
      `insert into scope(owner, namespace, count, bytes, last_write, flushed)
       values(?, ?, 0, 0, 0, 0)`,
      ...columnsOf(entry),
    );
    const { version, bytes, updatedAt, vectors } = entry;
    const id = toColumn(entry.id);
    const select = "select version from entry where id = ? and scope = ?";
    const old = this.#database.get<{ version: number }>(select, id, scope);
    if (old !== undefined && old.version > version) return;
    this.#drop(scope, entry.id);
    const insert = `insert into entry(scope, id, version, bytes, windows, flushed)
       values(?, ?, ?, ?, ?, 0)`;
    const seq = this.#database.run(insert, scope, id, version, bytes, vectors.length);
    this.#database.run("insert into tail values(?, ?)", seq, sealed);
    const update = `update scope set count = count + 1, bytes = bytes + ?,
       last_write = max(last_write, ?) where id = ?`;
    this.#database.run(update, bytes, updatedAt, scope);
  }

  #drop(scope: number, id: string): void {
    const row = this.#database.get<
      { seq: number; bytes: number; windows: number; flushed: number }
    >(
      "delete from entry where id = ? and scope = ? returning seq, bytes, windows, flushed",
      toColumn(id),
      scope,
    );
    if (row === undefined) return;
    const windows = row.flushed * row.windows;
    if (row.flushed === 0) this.#database.run("delete from tail where seq = ?", row.seq);
    else this.#database.run("insert into gone values(?, ?)", row.seq, windows);
    this.#database.run(
      "update scope set count = count - 1, bytes = bytes - ?, flushed = flushed - ? where id = ?",
      row.bytes,
      windows,
      scope,
    );
  }
}

/** The cursor of a page as a number. @throws {SvcError} `invalid_cursor`. */
export function parseCursor(cursor: string | undefined): number {
  if (cursor !== undefined && !/^\d{1,15}$/.test(cursor)) throw new SvcError("invalid_cursor");
  return Number(cursor ?? 0);
}
