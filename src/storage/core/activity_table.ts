import type {
  ActivityBounds,
  ActivityRange,
  ActivityRow,
  ActivityRows,
} from "../../interfaces/mod.ts";
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

/** What keys did, sealed. Calls are synchronous and durable on return. */
export class ActivityTable implements ActivityRows {
  readonly #file: SqliteFile;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

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

  countOn(holder: string, day: number): number {
    const sql = "select count(*) as rows from activity where holder = ? and day = ?";
    return this.#file.get<{ rows: number }>(sql, holder, day)?.rows ?? 0;
  }

  page({ account, holder, before, limit }: ActivityRange): ActivityRow[] {
    const [column, value] = holder === undefined ? ["account", account] : ["holder", holder];
    const sql = `select id, account, holder, day, entry from activity
      where ${column} = ? and id < ? order by id desc limit ?`;
    return this.#file.all(sql, value, before ?? Number.MAX_SAFE_INTEGER, limit);
  }

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
