import type { PutOptions, Scope } from "../../../../src/interfaces/mod.ts";
import {
  columnsOf,
  type Database,
  type ScopeColumns,
  scopeOf,
  toColumn,
} from "../../../../src/storage/sqlite/database.ts";
import type { Item } from "./upload.ts";

/** The row of what was put: `isNew` when this call added it, `id` once it is stored. */
interface PutItem {
  readonly seq: number;
  readonly id?: string;
  readonly isNew: boolean;
}

/** The table `item` of `walrus.db`. Methods that change rows run inside `database.write`. */
export class ItemRows {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Adds an item; when the key is known already, the row of its first item stays. */
  put(bytes: Uint8Array, options: PutOptions, now: number): PutItem {
    const named = [...columnsOf(options), toColumn(options.idempotencyKey)];
    const sql = "select seq, id from item where owner = ? and namespace = ? and key = ?";
    const known = this.#database.get<{ seq: number; id: string | null }>(sql, ...named);
    if (known !== undefined) {
      return { seq: known.seq, isNew: false, ...(known.id === null ? {} : { id: known.id }) };
    }
    const seq = this.#database.run(
      `insert into item(owner, namespace, key, standalone, size, created_at, bytes)
       values(?, ?, ?, ?, ?, ?, ?)`,
      ...named,
      options.standalone === true ? 1 : 0,
      bytes.length,
      now,
      bytes,
    );
    return { seq, isNew: true };
  }

  /** Removes an item that no upload has taken; returns its number. */
  withdraw(key: string, scope: Scope): number | undefined {
    const sql = `select seq from item where owner = ? and namespace = ? and key = ?
       and upload is null and id is null`;
    const row = this.#database.get<{ seq: number }>(sql, ...columnsOf(scope), toColumn(key));
    if (row !== undefined) this.#database.run("delete from item where seq = ?", row.seq);
    return row?.seq;
  }

  /** Whether the item exists and no upload has taken it. */
  isWaiting(seq: number): boolean {
    const sql = "select 1 from item where seq = ? and upload is null and id is null";
    return this.#database.get(sql, seq) !== undefined;
  }

  /** Every item no upload has taken, in the order of arrival. */
  waiting(): Item[] {
    return this.#database.all<
      Omit<Item, keyof Scope | "standalone"> & ScopeColumns & { standalone: number }
    >(
      `select seq, owner, namespace, standalone, size, created_at as createdAt from item
       where upload is null and id is null order by seq`,
    ).map((row) => ({ ...row, ...scopeOf(row), standalone: row.standalone === 1 }));
  }

  assign(seq: number, upload: number, identifier: string): void {
    const sql = "update item set upload = ?, identifier = ? where seq = ?";
    this.#database.run(sql, upload, identifier, seq);
  }

  /** Items of an upload with their bytes, in the order of their identifiers. */
  bytesOf(upload: number): { seq: number; identifier: string; bytes: Uint8Array }[] {
    const sql = "select seq, identifier, bytes from item where upload = ? order by identifier";
    return this.#database.all(sql, upload);
  }

  /** Items of an upload that have no id yet. */
  openIn(upload: number, limit: number): { seq: number; identifier: string; size: number }[] {
    const sql = "select seq, identifier, size from item where upload = ? and id is null limit ?";
    return this.#database.all(sql, upload, limit);
  }

  /** Notes the id under which an item is stored. */
  end(seq: number, id: string): void {
    this.#database.run("update item set id = ? where seq = ?", id, seq);
  }

  /** Notes that what was stored as `from` is stored as `to` now. */
  rename(scope: Scope, from: string, to: string): void {
    const sql = "update item set id = ? where id = ? and owner = ? and namespace = ?";
    this.#database.run(sql, to, from, ...columnsOf(scope));
  }

  /** Ids of an upload's items, by their number. */
  idsIn(upload: number): { seq: number; id: string | null }[] {
    return this.#database.all("select seq, id from item where upload = ?", upload);
  }

  /** Bytes of a stored item, until they are released. */
  storedBytes(scope: Scope, id: string): Uint8Array | undefined {
    return this.#database.get<{ bytes: Uint8Array }>(
      `select bytes from item where id = ? and owner = ? and namespace = ? and bytes is not null`,
      id,
      ...columnsOf(scope),
    )?.bytes;
  }

  /** A stored item whose bytes are still in its row. */
  unreleased(): Scope & { seq: number; id: string; bytes: Uint8Array } | undefined {
    const row = this.#database.get<ScopeColumns & { seq: number; id: string; bytes: Uint8Array }>(
      `select seq, id, owner, namespace, bytes from item
       where id is not null and bytes is not null limit 1`,
    );
    return row && { ...row, ...scopeOf(row) };
  }

  /** Drops an item's bytes. */
  release(seq: number): void {
    this.#database.run("update item set bytes = null where seq = ?", seq);
  }
}
