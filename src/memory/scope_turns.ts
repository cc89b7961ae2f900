import type { Scope } from "../interfaces/mod.ts";

/** Work that compares with what a scope holds before it writes: one at a time in each scope. */
export class ScopeTurns {
  readonly #last = new Map<string, Promise<void>>();

  /** Runs `work` when everything that was given for this scope before has ended. */
  async take<T>({ owner, namespace }: Scope, work: () => Promise<T>): Promise<T> {
    const key = `${owner}\n${namespace}`;
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
