interface Waiting {
  readonly at: number;
  readonly resolve: () => void;
}

/** A clock that stands still until it is moved, with the waits of whoever waits for it. */
export class WaitingClock {
  #now = Date.now();
  readonly #waiting = new Set<Waiting>();
  #slept = Promise.withResolvers<void>();

  /** Milliseconds since the epoch. */
  readonly now = (): number => this.#now;

  /** Waits on this clock; rejects when the signal aborts. */
  readonly sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const waiting = { at: this.#now + ms, resolve };
      this.#waiting.add(waiting);
      signal?.addEventListener("abort", () => {
        this.#waiting.delete(waiting);
        reject(signal.reason);
      });
      this.#slept.resolve();
      this.#slept = Promise.withResolvers();
    });

  /** Resolves when so many wait. */
  async until(count: number): Promise<void> {
    while (this.#waiting.size < count) await this.#slept.promise;
  }

  /** Moves to the earliest end of a wait and ends it. */
  next(): void {
    const [first] = [...this.#waiting].sort((a, b) => a.at - b.at);
    if (first === undefined) throw new Error("Nobody waits");
    this.#now = first.at;
    this.#waiting.delete(first);
    first.resolve();
  }
}
