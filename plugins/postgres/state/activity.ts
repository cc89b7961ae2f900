import type { ActivityRange, ActivityRow, ActivityRows } from "../../../src/interfaces/mod.ts";
import type { DatabaseShare } from "../shared_database.ts";

/** What keys did, in a table. */
export class PostgresActivity implements ActivityRows {
  readonly #share: DatabaseShare;

  constructor(share: DatabaseShare) {
    this.#share = share;
  }

  async write(rows: readonly ActivityRow[], perHolder: number): Promise<number[]> {
    if (rows.length === 0) return [];
    const fresh = await this.#all<{ readonly id: number }>(
      "select nextval('svc.activity_id') as id from generate_series(1, $1)",
      rows.filter(({ id }) => id === 0).length,
    );
    let used = 0;
    const ids = rows.map(({ id }) => id === 0 ? fresh[used++]!.id : id);
    await this.#all(
      `insert into svc.activity(id, account, holder, day, entry)
       select * from unnest($1::bigint[], $2::text[], $3::text[], $4::integer[], $5::bytea[])
       on conflict (id) do update set entry = excluded.entry`,
      ids,
      rows.map(({ account }) => account),
      rows.map(({ holder }) => holder),
      rows.map(({ day }) => day),
      rows.map(({ entry }) => entry),
    );
    const grown = new Set(rows.filter(({ id }) => id === 0).map(({ holder }) => holder));
    await this.#trim([...grown], perHolder);
    return ids;
  }

  async countOn(holder: string, day: number): Promise<number> {
    const sql = "select count(*) as rows from svc.activity where holder = $1 and day = $2";
    return (await this.#all<{ readonly rows: number }>(sql, holder, day))[0]!.rows;
  }

  page({ account, holder, before, limit }: ActivityRange): Promise<ActivityRow[]> {
    const [column, value] = holder === undefined ? ["account", account] : ["holder", holder];
    const sql = `select id, account, holder, day, entry from svc.activity
      where ${column} = $1 and id < $2 order by id desc limit $3`;
    return this.#all(sql, value, before ?? Number.MAX_SAFE_INTEGER, limit);
  }

  async prune(...[oldestDay, { perHolder, total }]: Parameters<ActivityRows["prune"]>) {
    await this.#all("delete from svc.activity where day < $1", oldestDay);
    const count = "select count(*) as rows from svc.activity";
    const rows = async () => (await this.#all<{ readonly rows: number }>(count))[0]!.rows;
    for (let bound = perHolder; bound > 1 && await rows() > total;) {
      bound = Math.floor(bound / 2);
      await this.#all(
        `delete from svc.activity where id in (select id from
           (select id, row_number() over (partition by holder order by id desc) as place
            from svc.activity) as placed where place > $1)`,
        bound,
      );
    }
  }

  /** Drops what goes beyond a key's newest rows. */
  async #trim(holders: readonly string[], perHolder: number): Promise<void> {
    await this.#all(
      `delete from svc.activity a using (
         select h.holder, (select b.id from svc.activity b where b.holder = h.holder
           order by b.id desc offset $2 limit 1) as last from unnest($1::text[]) as h(holder)) old
       where a.holder = old.holder and a.id <= old.last`,
      [...holders],
      perHolder,
    );
  }

  #all<Row>(sql: string, ...values: readonly unknown[]): Promise<Row[]> {
    this.#share.check(undefined);
    return this.#share.database.all<Row>(sql, ...values);
  }
}
