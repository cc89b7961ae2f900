import type { SqliteFile } from "../sqlite/sqlite_file.ts";

export const ACTIVITY_SCHEMA = `
  create table if not exists activity (
    id integer primary key, account text not null, holder text not null, day integer not null,
    entry blob not null
  ) strict;
  create index if not exists activity_account on activity (account);
  create index if not exists activity_holder on activity (holder);
  create index if not exists activity_day on activity (day);
`;

/** One sealed entry: whose it is, in a form that names nobody, and when it was. */
export interface ActivityRow {
  /** Rises with time; 0 where the row is not written yet. */
  readonly id: number;
  /** Stands for an account. */
  readonly account: string;
  /** Stands for a key of it. */
  readonly holder: string;
  /** UTC day, counted from the epoch. */
  readonly day: number;
  readonly entry: Uint8Array;
}

/** Which rows of an account are asked for: those before an id, and of one key where it is named. */
export interface ActivityRange {
  readonly account: string;
  readonly holder?: string | undefined;
  readonly before?: number | undefined;
  readonly limit: number;
}

/** How many rows may stay: each key's newest, and of everybody together. */
export interface ActivityBounds {
  readonly perHolder: number;
  readonly total: number;
}

/** What keys did, sealed. Calls are synchronous and durable on return. */
export class ActivityTable {
  readonly #file: SqliteFile;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  /**
   * Writes rows, replaces those with an id that is there, and drops what goes beyond a key's bound:
   * a key can push out its own rows and nobody else's. Answers the ids, in order.
   */
  write(rows: readonly ActivityRow[], perHolder: number): number[] {
    const insert = "insert into activity (account, holder, day, entry) values (?, ?, ?, ?)";
    const update = "update activity set entry = ? where id = ?";
    const trim = `delete from activity where holder = ?1 and id <=
      (select id from activity where holder = ?1 order by id desc limit 1 offset ?2)`;
    return this.#file.transaction(() => {
      const ids = rows.map(({ id, account, holder, day, entry }) => {
        if (id === 0) return this.#file.run(insert, account, holder, day, entry);
        this.#file.run(update, entry, id);
        return id;
      });
      const grown = new Set(rows.filter(({ id }) => id === 0).map(({ holder }) => holder));
      for (const holder of grown) this.#file.run(trim, holder, perHolder);
      return ids;
    });
  }

  /** How many rows a key has of a day. */
  countOn(holder: string, day: number): number {
    const sql = "select count(*) as rows from activity where holder = ? and day = ?";
    return this.#file.get<{ rows: number }>(sql, holder, day)?.rows ?? 0;
  }

  /** Rows of a range, newest first. */
  page({ account, holder, before, limit }: ActivityRange): ActivityRow[] {
    const [column, value] = holder === undefined ? ["account", account] : ["holder", holder];
    const sql = `select id, account, holder, day, entry from activity
      where ${column} = ? and id < ? order by id desc limit ?`;
    return this.#file.all(sql, value, before ?? Number.MAX_SAFE_INTEGER, limit);
  }

  /** Drops what is older than a day, and where there is too much, the oldest of the busiest keys. */
  prune(oldestDay: number, { perHolder, total }: ActivityBounds): void {
    const count = "select count(*) as rows from activity";
    const trim = `delete from activity where id in (select id from
      (select id, row_number() over (partition by holder order by id desc) as place from activity)
      where place > ?)`;
    this.#file.transaction(() => {
      this.#file.run("delete from activity where day < ?", oldestDay);
      const rows = () => this.#file.get<{ rows: number }>(count)?.rows ?? 0;
      let bound = perHolder;
      while (bound > 1 && rows() > total) {
        bound = Math.floor(bound / 2);
        this.#file.run(trim, bound);
      }
    });
  }
}
