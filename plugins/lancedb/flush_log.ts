import type { Scope } from "../../src/interfaces/mod.ts";
import {
  type Database,
  fromColumn,
  type ScopeColumns,
  scopeOf,
} from "../../src/storage/sqlite/database.ts";

/** A memory on its way into the table. */
export interface Outgoing extends Scope {
  readonly seq: number;
  readonly scopeId: number;
  readonly id: string;
  readonly version: number;
  readonly sealed: Uint8Array;
}

/** Numbers from `first` to `last`. */
interface SeqRange {
  readonly first: number;
  readonly last: number;
}

type OutgoingRow = Omit<Outgoing, keyof Scope | "id"> & ScopeColumns & { readonly id: Uint8Array };

/**
 * What is on its way from the catalogue into the table. An append is announced before it begins and
 * confirmed after its files are on disk, so that a crash or a failure in between is found and undone.
 */
export class FlushLog {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  waiting(): number {
    const sql = `select count(*) as count from tail t join entry e on e.seq = t.seq
      where e.windows > 0`;
    return this.#database.get<{ count: number }>(sql)!.count;
  }

  /**
   * The memories that wait longest, at most `limit`; searches rely on that order. Memories without
   * vectors have no row in the table and are left out.
   */
  next(limit: number): Outgoing[] {
    const sql = `select e.seq, e.scope as scopeId, s.owner, s.namespace, e.id, e.version, t.sealed
       from tail t join entry e on e.seq = t.seq join scope s on s.id = e.scope
       where e.windows > 0 order by t.seq limit ?`;
    const rows = this.#database.all<OutgoingRow>(sql, limit);
    return rows.map((row) => ({ ...row, ...scopeOf(row), id: fromColumn(row.id) }));
  }

  /** Notes that rows with numbers in a range are about to be appended. */
  async announce(range: SeqRange): Promise<void> {
    const text = JSON.stringify([range.first, range.last]);
    await this.#database.write(() => {
      this.#database.run("insert or replace into meta values('appending', ?)", text);
    });
  }

  /** The append that a crash or a failure left unconfirmed. */
  announced(): SeqRange | undefined {
    const sql = "select value from meta where key = 'appending'";
    const row = this.#database.get<{ value: string }>(sql);
    if (row === undefined) return undefined;
    const [first, last]: [number, number] = JSON.parse(row.value);
    return { first, last };
  }

  /** Removes the announcement: none of its rows is in the table. */
  async withdraw(): Promise<void> {
    await this.#database.write(() => this.#dropAnnouncement());
  }

  /** Confirms an append of `windows` by number; memories that were removed meanwhile count as gone. */
  async confirm(windows: ReadonlyMap<number, number>): Promise<void> {
    await this.#database.write(() => {
      for (const [seq, count] of windows) {
        const sql = "update entry set flushed = 1 where seq = ? returning scope";
        const found = this.#database.get<{ scope: number }>(sql, seq);
        if (found === undefined) {
          this.#database.run("insert into gone values(?, ?)", seq, count);
          continue;
        }
        this.#database.run("delete from tail where seq = ?", seq);
        const add = "update scope set flushed = flushed + ? where id = ?";
        this.#database.run(add, count, found.scope);
      }
      this.#dropAnnouncement();
    });
  }

  /** Numbers to be deleted from the table, at most `limit`. */
  gone(limit: number): number[] {
    const rows = this.#database.all<{ seq: number }>("select seq from gone limit ?", limit);
    return rows.map(({ seq }) => seq);
  }

  /** Notes that numbers are deleted from the table, or that they were never in it. */
  async deleted(seqs: readonly number[]): Promise<void> {
    await this.#database.write(() => {
      for (const seq of seqs) this.#database.run("delete from gone where seq = ?", seq);
    });
  }

  /** Rows the table must have. */
  expectedRows(): number {
    return this.#database.get<{ rows: number }>(
      `select coalesce((select sum(flushed) from scope), 0) +
       coalesce((select sum(windows) from gone), 0) as rows`,
    )!.rows;
  }

  /** Rows of the largest scope in the table. */
  largestScope(): number {
    const sql = "select coalesce(max(flushed), 0) as rows from scope";
    return this.#database.get<{ rows: number }>(sql)!.rows;
  }

  #dropAnnouncement(): void {
    this.#database.run("delete from meta where key = 'appending'");
  }
}
