import type { Account, Permission } from "../../src/interfaces/mod.ts";
import { fromColumn, toColumn } from "../../src/storage/sqlite/database.ts";
import type { CheckedKey } from "../shared/accounts/account_rules.ts";
import type { Statements } from "./statements.ts";

/** A row of an account, and of one of its keys where it has any. */
interface Row {
  readonly id: string;
  readonly owner: string;
  readonly active: boolean;
  readonly publicKey: string | null;
  readonly address: string;
  readonly label: Uint8Array;
  readonly permissions: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  /** JSON; null for a key that is bound to none. */
  readonly namespaces: Uint8Array | null;
}

const SELECT = `select a.id, a.owner, a.active, k.public_key as "publicKey", k.address, k.label,
    k.permissions, k.created_at as "createdAt", k.expires_at as "expiresAt", k.namespaces
  from svc.account a left join svc.delegate_key k on k.account = a.seq`;

/** Rows of accounts and keys. Whatever changes rows must run inside a transaction. */
export class AccountRows {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  async all(): Promise<Account[]> {
    const rows = await this.#statements.all<Row>(`${SELECT} order by a.seq, k.created_at, k.seq`);
    return [...Map.groupBy(rows, ({ id }) => id).values()].map(accountOf);
  }

  byId(accountId: string): Promise<Account | undefined> {
    return this.#one("a.id = $1", accountId);
  }

  byOwner(owner: string): Promise<Account | undefined> {
    return this.#one("a.owner = $1", owner);
  }

  byKey(publicKey: string): Promise<Account | undefined> {
    const account = "(select account from svc.delegate_key where public_key = $1)";
    return this.#one(`a.seq = ${account}`, publicKey);
  }

  async add(accountId: string, owner: string): Promise<void> {
    const sql = "insert into svc.account(id, owner, active) values($1, $2, true)";
    await this.#statements.all(sql, accountId, owner);
  }

  async addKey(accountId: string, key: CheckedKey, createdAt: number): Promise<void> {
    const { namespaces } = key;
    await this.#statements.all(
      `insert into svc.delegate_key
         (account, public_key, address, label, permissions, created_at, expires_at, namespaces)
       values((select seq from svc.account where id = $1), $2, $3, $4, $5, $6, $7, $8)`,
      accountId,
      key.publicKey,
      key.address,
      toColumn(key.label),
      key.permissions.join(","),
      createdAt,
      key.expiresAt ?? null,
      namespaces === undefined ? null : toColumn(JSON.stringify(namespaces)),
    );
  }

  async removeKey(publicKey: string): Promise<void> {
    await this.#statements.all("delete from svc.delegate_key where public_key = $1", publicKey);
  }

  async setActive(accountId: string, active: boolean): Promise<void> {
    await this.#statements.all(
      "update svc.account set active = $2 where id = $1",
      accountId,
      active,
    );
  }

  /** Number of changes of accounts ever made. */
  async revision(): Promise<number> {
    const sql = "select revision from svc.account_change";
    return (await this.#statements.get<{ readonly revision: number }>(sql))!.revision;
  }

  /** Counts a change and answers how many there are now; whoever else changes accounts waits. */
  async raise(): Promise<number> {
    const sql = "update svc.account_change set revision = revision + 1 returning revision";
    return (await this.#statements.get<{ readonly revision: number }>(sql))!.revision;
  }

  async #one(condition: string, value: string): Promise<Account | undefined> {
    const sql = `${SELECT} where ${condition} order by k.created_at, k.seq`;
    const rows = await this.#statements.all<Row>(sql, value);
    return rows.length === 0 ? undefined : accountOf(rows);
  }
}

function accountOf(rows: readonly Row[]): Account {
  const { id, owner, active } = rows[0]!;
  const keys = rows.flatMap(({ publicKey, expiresAt, namespaces, ...row }) =>
    publicKey === null ? [] : [{
      publicKey,
      address: row.address,
      label: fromColumn(row.label),
      permissions: row.permissions.split(",") as Permission[],
      createdAt: row.createdAt,
      ...(expiresAt === null ? {} : { expiresAt }),
      ...(namespaces === null ? {} : { namespaces: JSON.parse(fromColumn(namespaces)) }),
    }]
  );
  return { accountId: id, owner, active, keys };
}
