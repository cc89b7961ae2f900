import type { PutOptions, Scope } from "../../../../../src/interfaces/mod.ts";
import {
  columnsOf,
  type Database,
  scopeOf,
  toColumn,
} from "../../../../../src/storage/sqlite/database.ts";
import type { Item, PatchPlace } from "../upload.ts";

/** An item as it was put: new, on its way, or stored. */
export interface PutItem {
  /** Its number. */
  readonly seq: number;
  /** Its id, once it is stored. */
  readonly id?: string;
  /** Whether this call added it. */
  readonly isNew: boolean;
}

interface ItemRow {
  seq: number;
  owner: Uint8Array;
  namespace: Uint8Array;
  standalone: number;
  size: number;
  created_at: number;
}

/** Items in `walrus.db`; what changes something runs inside `database.write`. */
export class ItemRows {
  readonly #database: Database;

  /** Rows of an open file that has the tables of `UPLOAD_SCHEMA`. */
  constructor(database: Database) {
    this.#database = database;
  }

  /** Adds an item; the first one of a key stays. */
  put(bytes: Uint8Array, options: PutOptions, now: number): PutItem {
    const scope = columnsOf(options);
    const key = toColumn(options.idempotencyKey);
    const known = this.#database.get<{ seq: number; id: string | null }>(
      "select seq, id from item where owner = ? and namespace = ? and key = ?",
      ...scope,
      key,
    );
    if (known !== undefined) {
      return { seq: known.seq, isNew: false, ...(known.id === null ? {} : { id: known.id }) };
    }
    const seq = this.#database.run(
      `insert into item(owner, namespace, key, standalone, size, created_at, bytes)
       values(?, ?, ?, ?, ?, ?, ?)`,
      ...scope,
      key,
      options.standalone === true ? 1 : 0,
      bytes.length,
      now,
      bytes,
    );
    return { seq, isNew: true };
  }

  /** Removes an item that no upload has taken; answers its number. */
  withdraw(key: string, scope: Scope): number | undefined {
    const row = this.#database.get<{ seq: number }>(
      `select seq from item where owner = ? and namespace = ? and key = ?
       and upload is null and id is null`,
      ...columnsOf(scope),
      toColumn(key),
    );
    if (row !== undefined) this.#database.run("delete from item where seq = ?", row.seq);
    return row?.seq;
  }

  /** Whether an item is there that no upload has taken. */
  isWaiting(seq: number): boolean {
    const sql = "select 1 from item where seq = ? and upload is null and id is null";
    return this.#database.get(sql, seq) !== undefined;
  }

  /** Every item no upload has taken, in the order of arrival. */
  waiting(): Item[] {
    return this.#database.all<ItemRow>(
      `select seq, owner, namespace, standalone, size, created_at from item
       where upload is null and id is null order by seq`,
    ).map((row) => ({
      seq: row.seq,
      ...scopeOf(row),
      standalone: row.standalone === 1,
      size: row.size,
      createdAt: row.created_at,
    }));
  }

  /** Puts an item into an upload. */
  assign(seq: number, upload: number, identifier: string): void {
    const sql = "update item set upload = ?, identifier = ? where seq = ?";
    this.#database.run(sql, upload, identifier, seq);
  }

  /** Items of an upload with their bytes, in the order of their identifiers. */
  bytesOf(upload: number): { seq: number; identifier: string; bytes: Uint8Array }[] {
    return this.#database.all(
      "select seq, identifier, bytes from item where upload = ? order by identifier",
      upload,
    );
  }

  /** Items of an upload that have no id yet. */
  openIn(upload: number, limit: number): { seq: number; identifier: string; size: number }[] {
    return this.#database.all(
      "select seq, identifier, size from item where upload = ? and id is null limit ?",
      upload,
      limit,
    );
  }

  /** Ends an item. */
  end(seq: number, { id }: Pick<PatchPlace, "id">): void {
    this.#database.run("update item set id = ? where seq = ?", id, seq);
  }

  /** Gives items the id that theirs became. */
  rename(scope: Scope, from: string, to: string): void {
    this.#database.run(
      "update item set id = ? where id = ? and owner = ? and namespace = ?",
      to,
      from,
      ...columnsOf(scope),
    );
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

  /** Some stored items whose bytes are still there. */
  unreleased(limit: number): { seq: number; id: string; scope: Scope; bytes: Uint8Array }[] {
    return this.#database.all<ItemRow & { id: string; bytes: Uint8Array }>(
      "select seq, id, owner, namespace, bytes from item where id is not null and bytes is not null limit ?",
      limit,
    ).map((row) => ({
      seq: row.seq,
      id: row.id,
      bytes: row.bytes,
      scope: scopeOf(row),
    }));
  }

  /** Lets go of an item's bytes. */
  release(seq: number): void {
    this.#database.run("update item set bytes = null where seq = ?", seq);
  }
}
