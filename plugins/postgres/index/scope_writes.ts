import type { NumberedScope } from "./rows.ts";

/** Most rows of one transaction, unless one call brings more. */
const MOST = 500;

interface Waiting<Row> {
  readonly rows: readonly Row[];
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Many writes, one transaction: what arrives for a scope while one is under way shares the next.
 * Writers of a scope wait for each other anyway.
 */
export class ScopeWrites<Row> {
  readonly #write: (numbered: NumberedScope, rows: readonly Row[]) => Promise<void>;
  /** What waits, of scopes that are being written to. */
  readonly #waiting = new Map<number, Waiting<Row>[]>();

  /** `write` runs a transaction. */
  constructor(write: (numbered: NumberedScope, rows: readonly Row[]) => Promise<void>) {
    this.#write = write;
  }

  /** Writes rows of one scope; durable once it resolves. */
  add(numbered: NumberedScope, rows: readonly Row[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const item = { rows, resolve, reject };
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
      do size += waiting[count++]!.rows.length; while (
        count < waiting.length && size + waiting[count]!.rows.length <= MOST
      );
      const group = waiting.splice(0, count);
      try {
        await this.#write(numbered, group.flatMap(({ rows }) => rows));
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#waiting.delete(numbered.scopeId);
  }
}
