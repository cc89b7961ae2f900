import type { Scope } from "../../interfaces/mod.ts";
import type { KeyStore, WrappedKey } from "../../interfaces/plugin.ts";
import { fromColumn, toColumn } from "../sqlite/database.ts";
import type { SqliteFile } from "../sqlite/sqlite_file.ts";

export const KEY_SCHEMA = `
  create table if not exists wrapped_key (
    key_id text primary key, account_id text not null, owner text not null,
    namespace blob not null, generation integer not null, wrapped blob not null,
    created_at integer not null
  ) strict;
  create index if not exists wrapped_key_by_scope
    on wrapped_key (account_id, owner, namespace, generation, created_at);
  create table if not exists generation (
    account_id text primary key, generation integer not null
  ) strict, without rowid;
`;

interface Row {
  key_id: string;
  account_id: string;
  owner: string;
  namespace: Uint8Array;
  generation: number;
  wrapped: Uint8Array;
  created_at: number;
}

const toKey = (row: Row | undefined): WrappedKey | undefined =>
  row && {
    keyId: row.key_id,
    accountId: row.account_id,
    owner: row.owner,
    namespace: fromColumn(row.namespace),
    generation: row.generation,
    wrapped: row.wrapped,
    createdAt: row.created_at,
  };

export class KeyTable implements KeyStore {
  readonly #file: SqliteFile;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  put(key: WrappedKey): void {
    this.#file.run(
      `insert into wrapped_key values (?, ?, ?, ?, ?, ?, ?) on conflict (key_id) do nothing`,
      key.keyId,
      key.accountId,
      key.owner,
      toColumn(key.namespace),
      key.generation,
      key.wrapped,
      key.createdAt,
    );
  }

  get(keyId: string): WrappedKey | undefined {
    return toKey(this.#file.get<Row>("select * from wrapped_key where key_id = ?", keyId));
  }

  newest(accountId: string, scope: Scope): WrappedKey | undefined {
    const sql = `select * from wrapped_key
      where account_id = ? and owner = ? and namespace = ? and generation = ?
      order by created_at desc, rowid desc limit 1`;
    const [namespace, generation] = [toColumn(scope.namespace), this.generation(accountId)];
    return toKey(this.#file.get<Row>(sql, accountId, scope.owner, namespace, generation));
  }

  generation(accountId: string): number {
    const sql = "select generation from generation where account_id = ?";
    return this.#file.get<{ generation: number }>(sql, accountId)?.generation ?? 1;
  }

  nextGeneration(accountId: string): number {
    return this.#file.transaction(() => {
      const generation = this.generation(accountId) + 1;
      const sql = `insert into generation values (?, ?)
        on conflict (account_id) do update set generation = excluded.generation`;
      this.#file.run(sql, accountId, generation);
      return generation;
    });
  }

  delete(keyId: string): void {
    this.#file.run("delete from wrapped_key where key_id = ?", keyId);
  }
}
