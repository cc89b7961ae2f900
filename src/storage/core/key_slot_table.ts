import { openForReading, type SqliteFile } from "../sqlite/sqlite_file.ts";

export const KEY_SLOT_SCHEMA = `
  create table if not exists key_slots (
    slot integer primary key autoincrement,
    fingerprint text not null unique,
    sealed blob not null
  ) strict;
`;

/**
 * The data key, once for each relayer key that replaced it. There is one slot, and two while the
 * relayer key is changed once more: the newer one is of the next key.
 */
export class KeySlotTable {
  readonly #file: SqliteFile;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  /** The data key as it was sealed under a relayer key; `undefined` when that one opens nothing. */
  get(fingerprint: string): Uint8Array | undefined {
    const sql = "select sealed from key_slots where fingerprint = ?";
    return this.#file.get<{ sealed: Uint8Array }>(sql, fingerprint)?.sealed;
  }

  /** Lets another relayer key in, after those that are let in already. */
  add(fingerprint: string, sealed: Uint8Array): void {
    this.#file.run(
      "insert into key_slots (fingerprint, sealed) values (?, ?)",
      fingerprint,
      sealed,
    );
  }

  /** Shuts out the keys that were let in before this one. */
  closeOlder(fingerprint: string): void {
    const sql = `delete from key_slots
      where slot < (select slot from key_slots where fingerprint = ?)`;
    this.#file.run(sql, fingerprint);
  }

  /** Shuts out the keys that were let in after this one: changes that were not ended. */
  closeNewer(fingerprint: string): void {
    const sql = `delete from key_slots where slot > coalesce(
      (select slot from key_slots where fingerprint = ?), 0)`;
    this.#file.run(sql, fingerprint);
  }
}

/**
 * Fingerprints of the relayer keys that open a core.db, which is opened for reading only.
 *
 * @returns none when nothing is sealed yet, or there is no such file.
 */
export function keysThatOpen(path: string): string[] {
  try {
    using database = openForReading(path);
    const texts = (sql: string) => database.prepare(sql).all().map((row) => String(row["found"]));
    // The first relayer key, which is the data key.
    const dataKey = texts("select value as found from meta where name = 'relayer_key'");
    const hasSlots = texts("select name as found from sqlite_schema where name = 'key_slots'");
    if (hasSlots.length === 0) return dataKey;
    return [...dataKey, ...texts("select fingerprint as found from key_slots order by slot")];
  } catch {
    return [];
  }
}
