import type { SqliteFile } from "../sqlite/sqlite_file.ts";

export const OWNER_COUNT_SCHEMA = `
  create table if not exists owner_count (
    owner text not null, name text not null, value text not null, primary key (owner, name)
  ) strict, without rowid;
`;

/** What is counted of owners, where it goes with them from relayer to relayer; small texts by name. */
export class OwnerCountTable {
  readonly #file: SqliteFile;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  /** All that is noted of an owner. */
  of(owner: string): { readonly name: string; readonly value: string }[] {
    return this.#file.all("select name, value from owner_count where owner = ?", owner);
  }

  /** Notes a value in the place of the one with its name; none removes it. */
  write(owner: string, name: string, value: string | undefined): void {
    if (value === undefined) {
      this.#file.run("delete from owner_count where owner = ? and name = ?", owner, name);
      return;
    }
    const sql = `insert into owner_count values (?, ?, ?)
      on conflict (owner, name) do update set value = excluded.value`;
    this.#file.run(sql, owner, name, value);
  }
}
