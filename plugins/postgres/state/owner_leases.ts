import type { LeaseCalls, LeaseNews, OwnerLeases } from "../../../src/interfaces/mod.ts";
import { fromColumn, toColumn } from "../../../src/storage/sqlite/database.ts";
import { RENEWING } from "../jobs/job_store.ts";
import type { DatabaseShare } from "../shared_database.ts";

interface OwnerRow {
  readonly owner: Uint8Array;
}

const namesOf = (rows: readonly OwnerRow[]) => rows.map(({ owner }) => fromColumn(owner));

/** Whether nobody has the owner of the row `o`, or whose time is over. */
const FREE = `not exists (
  select 1 from svc.holder h where h.id = o.holder and h.until > clock_timestamp())`;

/** Where relayers tell each other what they would see at their next look. */
const CHANNEL = "svc_owner";

/** Leases of owners in a table; their time is that of the opening, by the server's clock. */
export class PostgresOwnerLeases implements OwnerLeases {
  readonly #share: DatabaseShare;
  readonly #holder: number;

  /** `share` is best its own: leases must not wait for whatever else is asked. */
  constructor(share: DatabaseShare, holder: number, readonly lastMs: number) {
    this.#share = share;
    this.#holder = holder;
  }

  async take(owner: string, ask: boolean): Promise<boolean> {
    // A taking is a writing: whatever the holder before is late with stands on an older one.
    const taken = await this.#all(
      `insert into svc.owner as o (owner, holder) values($1, $2)
       on conflict (owner) do update set holder = excluded.holder, wanted = false,
         revision = o.revision + 1
       where o.holder = excluded.holder or ${FREE} returning owner`,
      toColumn(owner),
      this.#holder,
    );
    if (taken.length > 0) {
      // Also what this very opening had before it let the owner go.
      const sql = `update svc.job set holder = 0 where id in (
        select id from svc.job where owner = $1 and ended_at is null order by id for update)`;
      await this.#all(sql, toColumn(owner));
      return true;
    }
    if (ask) {
      await this.#all(
        `with asked as (
           update svc.owner set wanted = true where owner = $1 and not wanted returning holder)
         select pg_notify('${CHANNEL}', holder || ' ' || encode($1, 'hex')) from asked`,
        toColumn(owner),
      );
    }
    return false;
  }

  async release(owner: string): Promise<void> {
    await this.#all(
      `with gone as (
         update svc.owner o set holder = 0, wanted = false
         from (select wanted from svc.owner where owner = $1) before
         where o.owner = $1 and o.holder = $2 returning before.wanted)
       select pg_notify('${CHANNEL}', '0 ' || encode($1, 'hex')) from gone where wanted`,
      toColumn(owner),
      this.#holder,
    );
  }

  async renew(): Promise<LeaseNews> {
    this.#share.check(undefined);
    // One statement: each relayer says it ten times a second.
    const row = await this.#share.database.get<
      { readonly had: boolean; readonly wanted: string[] }
    >(
      `${RENEWING} select coalesce((select had from before), false) as had,
         array(select encode(owner, 'hex') from svc.owner where holder = $1 and wanted) as wanted`,
      this.#holder,
      this.lastMs / 1000,
    );
    const wanted = row!.wanted.map((hex) => fromColumn(Uint8Array.fromHex(hex)));
    return { wanted, hadRunOut: !row!.had };
  }

  watch(calls: LeaseCalls): Disposable {
    return this.#share.database.hear(CHANNEL, (payload) => {
      const [holder, hex = ""] = payload.split(" ");
      const owner = fromColumn(Uint8Array.fromHex(hex));
      if (holder === "0") calls.free(owner);
      else if (holder === String(this.#holder)) calls.wanted(owner);
    });
  }

  async mine(): Promise<string[]> {
    return namesOf(await this.#all("select owner from svc.owner where holder = $1", this.#holder));
  }

  async others(): Promise<number> {
    this.#share.check(undefined);
    const sql = `select count(*) as count from svc.holder
      where id <> $1 and until > clock_timestamp()`;
    const { database } = this.#share;
    return (await database.get<{ readonly count: number }>(sql, this.#holder))!.count;
  }

  async orphaned(limit: number): Promise<string[]> {
    const rows = await this.#all(
      `select distinct j.owner from svc.job j left join svc.owner o on o.owner = j.owner
       where j.ended_at is null and ${FREE} limit $1`,
      limit,
    );
    return namesOf(rows);
  }

  #all(sql: string, ...values: readonly unknown[]): Promise<OwnerRow[]> {
    this.#share.check(undefined);
    return this.#share.database.all<OwnerRow>(sql, ...values);
  }
}
