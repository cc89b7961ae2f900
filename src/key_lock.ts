/** Runs one piece of work at a time for each key. */
export class KeyLock {
  readonly #last = new Map<string, Promise<void>>();

  /** Runs `work` after all earlier work under the key has ended. */
  async hold<T>(key: string, work: () => Promise<T>): Promise<T> {
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

  /** Whether work under a key is going on. */
  isHeld(key: string): boolean {
    return this.#last.has(key);
  }

  /** Resolves when the work so far has ended. */
  async idle(): Promise<void> {
    await Promise.all(this.#last.values());
  }
}
