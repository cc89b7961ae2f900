import type { SqliteFile } from "../sqlite/sqlite_file.ts";

export const KEY_USE_SCHEMA = `
  create table if not exists key_use (
    public_key text primary key, used_at integer not null
  ) strict, without rowid;
`;

/** When delegate keys were used last; times in milliseconds since the epoch. */
export interface KeyUse {
  /** Notes that a key of an owner signed an accepted request. */
  touch(publicKey: string, at: number, owner: string): void;
  /** When a key was used last. */
  lastUsed(publicKey: string): number | undefined;
}

/** A time on disk may be this much older than the one in memory, in milliseconds. */
const WRITE_EVERY_MS = 300_000;

/**
 * When delegate keys were used last. Exact while the relayer runs; after a restart up to five
 * minutes old, because a commit for every request would cost more than the answer is worth.
 */
export class KeyUseTable implements KeyUse {
  readonly #file: SqliteFile;
  readonly #used = new Map<string, { at: number; written: number }>();

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  /** Notes that a key signed an accepted request at a time, milliseconds since the epoch. */
  touch(publicKey: string, at: number): void {
    const entry = this.#used.get(publicKey) ?? { at, written: -Infinity };
    entry.at = at;
    this.#used.set(publicKey, entry);
    if (at - entry.written < WRITE_EVERY_MS) return;
    entry.written = at;
    const sql = `insert into key_use values (?, ?)
      on conflict (public_key) do update set used_at = excluded.used_at`;
    try {
      this.#file.run(sql, publicKey, at);
    } catch {
      // A full disk must not refuse the request; the time in memory is right.
    }
  }

  /** When a key was used last, milliseconds since the epoch. */
  lastUsed(publicKey: string): number | undefined {
    const sql = "select used_at from key_use where public_key = ?";
    return this.#used.get(publicKey)?.at ??
      this.#file.get<{ used_at: number }>(sql, publicKey)?.used_at;
  }
}
