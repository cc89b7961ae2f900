import type { SqliteFile } from "../sqlite/sqlite_file.ts";

export const COPY_SCHEMA = `
  create table if not exists memory_copy (
    owner text not null, id text not null, count integer not null, last_at integer not null,
    primary key (owner, id)
  ) strict, without rowid;
`;

/** How often a memory was written again, word for word, and when last. */
export interface Copies {
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly lastAt: number;
}

/** Counts may wait so long for others to be written with, in milliseconds. */
const WRITE_EVERY_MS = 1_000;

/**
 * Texts that were sent again and not stored again, by the memory that stands for them. Exact while the
 * relayer runs. What waits is written with the next copy a second later, and at the end: a crash loses
 * the counts of the last moments, because a commit for each copy would cost more than they are worth.
 */
export class CopyTable {
  readonly #file: SqliteFile;
  /** All counts by owner and id, read once: every hit asks. */
  #known: Map<string, Copies> | undefined;
  /** Owner and id of what is not written yet. */
  readonly #waiting = new Set<string>();
  #writtenAt = -Infinity;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  /** Notes that a memory was written again, at a time in milliseconds since the epoch. */
  note(owner: string, id: string, at: number): void {
    const key = keyOf(owner, id);
    const { count = 0, lastAt = at } = this.#all().get(key) ?? {};
    this.#all().set(key, { count: count + 1, lastAt: Math.max(lastAt, at) });
    this.#waiting.add(key);
    if (Math.abs(at - this.#writtenAt) < WRITE_EVERY_MS) return;
    this.#writtenAt = at;
    this.flush();
  }

  /** To be called when rows of an owner were exchanged by somebody else: what waits of them is lost. */
  reread(owner: string): void {
    for (const key of this.#waiting) if (key.startsWith(`${owner} `)) this.#waiting.delete(key);
    this.flush();
    this.#known = undefined;
  }

  /** Writes what waits; a full disk must not refuse a request, so a failure keeps it waiting. */
  flush(): void {
    if (this.#waiting.size === 0) return;
    const sql = `insert into memory_copy values (?, ?, ?, ?) on conflict (owner, id) do update
      set count = excluded.count, last_at = excluded.last_at`;
    try {
      this.#file.transaction(() => {
        for (const key of this.#waiting) {
          const [owner = "", id = ""] = key.split(" ");
          const { count, lastAt } = this.#all().get(key)!;
          this.#file.run(sql, owner, id, count, lastAt);
        }
      });
      this.#waiting.clear();
    } catch {
      // They are written with the next ones.
    }
  }

  /** What is known of a memory; `undefined` where it was written once. */
  of(owner: string, id: string): Copies | undefined {
    return this.#all().get(keyOf(owner, id));
  }

  /** Drops what is known of memories that are deleted. */
  remove(owner: string, ids: readonly string[]): void {
    for (const id of ids) {
      const key = keyOf(owner, id);
      if (!this.#all().delete(key)) continue;
      this.#waiting.delete(key);
      this.#file.run("delete from memory_copy where owner = ? and id = ?", owner, id);
    }
  }

  #all(): Map<string, Copies> {
    return this.#known ??= new Map(
      this.#file.all<Copies & { owner: string; id: string }>(
        "select owner, id, count, last_at as lastAt from memory_copy",
      ).map(({ owner, id, count, lastAt }) => [keyOf(owner, id), { count, lastAt }]),
    );
  }
}

function keyOf(owner: string, id: string): string {
  return `${owner} ${id}`;
}
