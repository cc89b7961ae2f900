import type { Ledger, LedgerChange, LedgerPart, LedgerRow } from "../../../src/interfaces/mod.ts";
import { toColumn } from "../../../src/storage/sqlite/database.ts";
import type { DatabaseShare } from "../shared_database.ts";

/** The part that belongs to no owner, so that no lease protects it. */
const COMMON = "";

/** Parts of the ledger in tables; an owner's part is written by the holder of the owner's lease. */
export class PostgresLedger implements Ledger {
  readonly #share: DatabaseShare;
  readonly #holder: number;

  constructor(share: DatabaseShare, holder: number) {
    this.#share = share;
    this.#holder = holder;
  }

  async read(part: string): Promise<LedgerPart> {
    const { database } = this.#database();
    // The revision first: rows of a later one are refused when something is written.
    const revision = await this.revision(part);
    const sql = "select key, value from svc.ledger where owner = $1";
    return { revision, rows: await database.all<LedgerRow>(sql, toColumn(part)) };
  }

  async revision(part: string): Promise<number> {
    const { database } = this.#database();
    const sql = "select revision from svc.owner where owner = $1";
    const row = await database.get<{ readonly revision: number }>(sql, toColumn(part));
    return row?.revision ?? 0;
  }

  async write(
    part: string,
    revision: number,
    { put, gone }: LedgerChange,
  ): Promise<number | undefined> {
    const { database } = this.#database();
    const owner = toColumn(part);
    if (part === COMMON) {
      const sql = "insert into svc.owner(owner, holder) values($1, 0) on conflict do nothing";
      await database.all(sql, owner);
    }
    const written = await database.get<{ readonly revision: number }>(
      `with part as (
         update svc.owner set revision = revision + 1
         where owner = $1 and revision = $2 and ($3 or holder = $4) returning revision),
       put as (
         insert into svc.ledger(owner, key, value)
         select $1, g.key, g.value from part, unnest($5::bytea[], $6::bytea[]) as g(key, value)
         on conflict (owner, key) do update set value = excluded.value),
       gone as (
         delete from svc.ledger l using part where l.owner = $1 and l.key = any($7::bytea[]))
       select revision from part`,
      owner,
      revision,
      part === COMMON,
      this.#holder,
      put.map(({ key }) => key),
      put.map(({ value }) => value),
      [...gone],
    );
    return written?.revision;
  }

  #database(): DatabaseShare {
    this.#share.check(undefined);
    return this.#share;
  }
}
