import type { Scope } from "../../../../src/interfaces/mod.ts";
import { columnsOf, type Database, scopeOf } from "../../../../src/storage/sqlite/database.ts";

/**
 * `moving`: patches whose copy into another quilt has begun; their key makes storing them again
 * answer the same copy. `source` is the Blob object they come from.
 */
export const UPKEEP_SCHEMA = `
create table if not exists moving(
  owner blob not null, namespace blob not null, id text not null, source text not null,
  primary key(owner, namespace, id)) strict, without rowid`;

/** A patch that is being copied. */
export interface Moving {
  /** Patch id so far. */
  readonly id: string;
  /** Blob object it comes from. */
  readonly source: string;
}

/** What upkeep has begun. Changes must run inside `database.write`. */
export class UpkeepRows {
  readonly #database: Database;

  /** Works on a file with {@linkcode UPKEEP_SCHEMA}. */
  constructor(database: Database) {
    this.#database = database;
  }

  /** Notes that a patch is being copied. */
  begin(scope: Scope, id: string, source: string): void {
    const sql = "insert or ignore into moving values(?, ?, ?, ?)";
    this.#database.run(sql, ...columnsOf(scope), id, source);
  }

  /** Notes that a patch is no longer being copied. */
  end(scope: Scope, id: string): void {
    const sql = "delete from moving where owner = ? and namespace = ? and id = ?";
    this.#database.run(sql, ...columnsOf(scope), id);
  }

  /** Scopes of which patches are being copied. */
  scopes(): Scope[] {
    return this.#database.all<{ owner: Uint8Array; namespace: Uint8Array }>(
      "select distinct owner, namespace from moving",
    ).map(({ owner, namespace }) => ({
      ...scopeOf({ owner, namespace }),
    }));
  }

  /** Patches of a scope that are being copied. */
  begun(scope: Scope): Moving[] {
    return this.#database.all<{ id: string; source: string }>(
      "select id, source from moving where owner = ? and namespace = ?",
      ...columnsOf(scope),
    );
  }

  /** Forgets where the patches of a quilt moved to that is no more, as far as that was told. */
  forgetMoves(scope: Scope, quiltId: string): void {
    // A patch id begins with the bits of its quilt's id, of which the last character has some only.
    const prefix = quiltId.slice(0, -1);
    this.#database.run(
      `delete from move where owner = ? and namespace = ? and told = 1
       and from_id >= ? and from_id < ?`,
      ...columnsOf(scope),
      prefix,
      `${prefix}~`,
    );
  }
}
