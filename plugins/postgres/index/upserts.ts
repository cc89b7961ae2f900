import type { PostgresDatabase } from "../database.ts";
import type { NumberedScope, Rows, SealedEntry } from "./rows.ts";

/** Most memories of one transaction, unless one call brings more. */
const MOST = 500;

interface Waiting {
  readonly entries: readonly SealedEntry[];
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Many writes, one transaction: what arrives for a scope while one is under way shares the next.
 * Writers of a scope wait for each other anyway.
 */
export class Upserts {
  readonly #database: PostgresDatabase;
  readonly #rows: Rows;
  /** What waits, of scopes that are being written to. */
  readonly #waiting = new Map<number, Waiting[]>();

  constructor(database: PostgresDatabase, rows: Rows) {
    this.#database = database;
    this.#rows = rows;
  }

  /** Adds or replaces memories of one scope; durable once it resolves. */
  add(numbered: NumberedScope, entries: readonly SealedEntry[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const item = { entries, resolve, reject };
      const waiting = this.#waiting.get(numbered.scopeId);
      if (waiting !== undefined) return void waiting.push(item);
      this.#waiting.set(numbered.scopeId, [item]);
      void this.#run(numbered);
    });
  }

  async #run(numbered: NumberedScope): Promise<void> {
    const waiting = this.#waiting.get(numbered.scopeId)!;
    while (waiting.length > 0) {
      let count = 0;
      let size = 0;
      do size += waiting[count++]!.entries.length; while (
        count < waiting.length && size + waiting[count]!.entries.length <= MOST
      );
      const group = waiting.splice(0, count);
      try {
        const entries = group.flatMap((item) => item.entries);
        await this.#database.transaction((statements) =>
          this.#rows.upsert(statements, numbered, entries)
        );
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#waiting.delete(numbered.scopeId);
  }
}
