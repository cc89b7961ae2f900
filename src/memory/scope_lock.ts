import type { Scope } from "../interfaces/mod.ts";
import { scopeKey } from "../interfaces/scope_key.ts";

/** Runs one piece of work at a time in each scope. */
export class ScopeLock {
  readonly #last = new Map<string, Promise<void>>();

  /** Runs `work` after all earlier work on the scope has ended. */
  async hold<T>(scope: Scope, work: () => Promise<T>): Promise<T> {
    const key = scopeKey(scope);
    const before = this.#last.get(key);
    const done = Promise.withResolvers<void>();
    this.#last.set(key, done.promise);
    try {
      await before;
      return await work();
    } finally {
      if (this.#last.get(key) === done.promise) this.#last.delete(key);
      done.resolve();
    }
  }
}
