import type { Account, Permission } from "../../../src/interfaces/mod.ts";
import type { Database } from "../../../src/storage/sqlite/database.ts";
import type { CheckedKey } from "./account_rules.ts";

/**
 * `core.db` also holds tables of the relayer itself: `account_change.revision`, raised by every
 * change of accounts, tells these apart from the others' writes.
 */
export const ACCOUNT_SCHEMA = `
create table if not exists account(
  seq integer primary key, id text not null unique, owner text not null unique,
  active integer not null) strict;
create table if not exists delegate_key(
  seq integer primary key, account integer not null, public_key text not null unique,
  address text not null, label text not null, permissions text not null,
  created_at integer not null, expires_at integer) strict;
create index if not exists delegate_key_account on delegate_key(account, seq);
create table if not exists account_change(
  id integer primary key check (id = 1), revision integer not null) strict;
insert or ignore into account_change values(1, 0)`;

interface AccountRow {
  readonly seq: number;
  readonly id: string;
  readonly owner: string;
  readonly active: number;
}

interface KeyRow {
  readonly publicKey: string;
  readonly address: string;
  readonly label: string;
  readonly permissions: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
}

/** Rows of accounts and keys. Whatever changes rows must run inside a write transaction. */
export class AccountRows {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  all(): Account[] {
    const rows = this.#database.all<AccountRow>("select * from account order by seq");
    return rows.map((row) => this.#account(row));
  }

  byId(accountId: string): Account | undefined {
    return this.#one("select * from account where id = ?", accountId);
  }

  byOwner(owner: string): Account | undefined {
    return this.#one("select * from account where owner = ?", owner);
  }

  byKey(publicKey: string): Account | undefined {
    return this.#one(
      `select account.* from delegate_key join account on account.seq = delegate_key.account
       where public_key = ?`,
      publicKey,
    );
  }

  add(accountId: string, owner: string): void {
    const sql = "insert into account(id, owner, active) values(?, ?, 1)";
    this.#database.run(sql, accountId, owner);
  }

  addKey(accountId: string, key: CheckedKey, createdAt: number): void {
    this.#database.run(
      `insert into delegate_key
         (account, public_key, address, label, permissions, created_at, expires_at)
       values((select seq from account where id = ?), ?, ?, ?, ?, ?, ?)`,
      accountId,
      key.publicKey,
      key.address,
      key.label,
      key.permissions.join(","),
      createdAt,
      key.expiresAt ?? null,
    );
  }

  removeKey(publicKey: string): void {
    this.#database.run("delete from delegate_key where public_key = ?", publicKey);
  }

  setActive(accountId: string, active: boolean): void {
    this.#database.run("update account set active = ? where id = ?", active ? 1 : 0, accountId);
  }

  /** Number of changes of accounts ever made. */
  revision(): number {
    return this.#database.get<{ revision: number }>("select revision from account_change")!
      .revision;
  }

  /** Counts a change and answers how many there are now. */
  raise(): number {
    this.#database.run("update account_change set revision = revision + 1");
    return this.revision();
  }

  /** A number that changes when another connection wrote to the file. */
  dataVersion(): number {
    return this.#database.get<{ data_version: number }>("pragma data_version")!.data_version;
  }

  #one(sql: string, value: string): Account | undefined {
    const row = this.#database.get<AccountRow>(sql, value);
    return row && this.#account(row);
  }

  #account(row: AccountRow): Account {
    const sql =
      `select public_key as publicKey, address, label, permissions, created_at as createdAt,
         expires_at as expiresAt
       from delegate_key where account = ? order by seq`;
    const keys = this.#database.all<KeyRow>(sql, row.seq);
    return {
      accountId: row.id,
      owner: row.owner,
      active: row.active === 1,
      keys: keys.map(({ permissions, expiresAt, ...key }) => ({
        ...key,
        permissions: permissions.split(",") as Permission[],
        ...(expiresAt === null ? {} : { expiresAt }),
      })),
    };
  }
}
