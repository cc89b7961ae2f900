import type { Account, Permission } from "../../../src/interfaces/mod.ts";
import type { Database } from "../../../src/storage/sqlite/database.ts";
import type { CheckedKey } from "./account_rules.ts";

/**
 * `core.db` also holds tables of the relayer itself: `account_change.revision`, raised by every
 * change of accounts, tells these apart from the others' writes. Keys that are bound to namespaces
 * have a table of their own: an earlier version, which would let them see every namespace, does not
 * know them.
 */
export const ACCOUNT_SCHEMA = `
create table if not exists account(
  seq integer primary key, id text not null unique, owner text not null unique,
  active integer not null) strict;
create table if not exists delegate_key(
  seq integer primary key, account integer not null, public_key text not null unique,
  address text not null, label text not null, permissions text not null,
  created_at integer not null, expires_at integer) strict;
create table if not exists bound_delegate_key(
  seq integer primary key, account integer not null, public_key text not null unique,
  address text not null, label text not null, permissions text not null,
  created_at integer not null, expires_at integer, namespaces text not null) strict;
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
  /** JSON; null for a key that is bound to none. */
  readonly namespaces: string | null;
}

const KEY_COLUMNS = `public_key as publicKey, address, label, permissions, created_at as createdAt,
  expires_at as expiresAt`;
/** A key of both tables, which only an earlier version can have made, is the bound one. */
const KEYS_OF = `select seq, ${KEY_COLUMNS}, null as namespaces from delegate_key
  where account = ?1 and public_key not in (select public_key from bound_delegate_key)
  union all select seq, ${KEY_COLUMNS}, namespaces from bound_delegate_key where account = ?1
  order by createdAt, seq`;

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
    const keys = ["bound_delegate_key", "delegate_key"];
    for (const table of keys) {
      const found = this.#one(
        `select account.* from ${table} join account on account.seq = ${table}.account
         where public_key = ?`,
        publicKey,
      );
      if (found !== undefined) return found;
    }
    return undefined;
  }

  add(accountId: string, owner: string): void {
    const sql = "insert into account(id, owner, active) values(?, ?, 1)";
    this.#database.run(sql, accountId, owner);
  }

  addKey(accountId: string, key: CheckedKey, createdAt: number): void {
    const { namespaces } = key;
    const [table, column, mark] = namespaces === undefined
      ? ["delegate_key", "", ""]
      : ["bound_delegate_key", ", namespaces", ", ?"];
    this.#database.run(
      `insert into ${table}
         (account, public_key, address, label, permissions, created_at, expires_at${column})
       values((select seq from account where id = ?), ?, ?, ?, ?, ?, ?${mark})`,
      accountId,
      key.publicKey,
      key.address,
      key.label,
      key.permissions.join(","),
      createdAt,
      key.expiresAt ?? null,
      ...(namespaces === undefined ? [] : [JSON.stringify(namespaces)]),
    );
  }

  removeKey(publicKey: string): void {
    for (const table of ["delegate_key", "bound_delegate_key"]) {
      this.#database.run(`delete from ${table} where public_key = ?`, publicKey);
    }
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
    const keys = this.#database.all<KeyRow & { seq: number }>(KEYS_OF, row.seq);
    return {
      accountId: row.id,
      owner: row.owner,
      active: row.active === 1,
      keys: keys.map(({ seq: _, permissions, expiresAt, namespaces, ...key }) => ({
        ...key,
        permissions: permissions.split(",") as Permission[],
        ...(expiresAt === null ? {} : { expiresAt }),
        ...(namespaces === null ? {} : { namespaces: JSON.parse(namespaces) }),
      })),
    };
  }
}
