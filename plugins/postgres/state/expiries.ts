import type { Expiry, ExpiryStore } from "../../../src/interfaces/mod.ts";
import { fromColumn, toColumn } from "../../../src/storage/sqlite/database.ts";
import type { DatabaseShare } from "../shared_database.ts";

/** Entries of a page, and of a statement. */
const PAGE = 500;

interface Row {
  readonly expiresAt: number;
  readonly owner: Uint8Array;
  readonly namespace: Uint8Array;
  readonly id: Uint8Array;
}

/** Expiries as columns of a statement. */
const columnsOf = (expiries: readonly Expiry[]): readonly (readonly unknown[])[] => [
  expiries.map(({ expiresAt }) => expiresAt),
  expiries.map(({ owner }) => toColumn(owner)),
  expiries.map(({ namespace }) => toColumn(namespace)),
  expiries.map(({ id }) => toColumn(id)),
];

const GIVEN = "unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::bytea[])";

/** When memories end, in a table. */
export class PostgresExpiries implements ExpiryStore {
  readonly #share: DatabaseShare;

  constructor(share: DatabaseShare) {
    this.#share = share;
  }

  async note(...[memories]: Parameters<ExpiryStore["note"]>): Promise<void> {
    const ending = memories.flatMap(({ expiresAt, ...memory }) =>
      expiresAt === undefined ? [] : [{ ...memory, expiresAt }]
    );
    const sql = `insert into svc.expiry select * from ${GIVEN} on conflict do nothing`;
    for (let at = 0; at < ending.length; at += PAGE) {
      await this.#all(sql, ...columnsOf(ending.slice(at, at + PAGE)));
    }
  }

  async due(now: number, after?: Expiry): Promise<Expiry[]> {
    const [at, owner, namespace, id] = after === undefined
      ? [-1, new Uint8Array(), new Uint8Array(), new Uint8Array()]
      : [after.expiresAt, ...[after.owner, after.namespace, after.id].map(toColumn)];
    const rows = await this.#all<Row>(
      `select expires_at as "expiresAt", owner, namespace, id from svc.expiry
       where expires_at <= $1 and (expires_at, owner, namespace, id) > ($2, $3, $4, $5)
       order by expires_at, owner, namespace, id limit ${PAGE}`,
      now,
      at,
      owner,
      namespace,
      id,
    );
    return rows.map((row) => ({
      expiresAt: row.expiresAt,
      owner: fromColumn(row.owner),
      namespace: fromColumn(row.namespace),
      id: fromColumn(row.id),
    }));
  }

  async remove(expiries: readonly Expiry[]): Promise<void> {
    if (expiries.length === 0) return;
    const sql = `delete from svc.expiry e using ${GIVEN} as g(expires_at, owner, namespace, id)
      where e.expires_at = g.expires_at and e.owner = g.owner and e.namespace = g.namespace
        and e.id = g.id`;
    await this.#all(sql, ...columnsOf(expiries));
  }

  #all<T>(sql: string, ...values: readonly unknown[]): Promise<T[]> {
    this.#share.check(undefined);
    return this.#share.database.all<T>(sql, ...values);
  }
}
