interface Waiter<T> {
  resolve(value: T): void;
  reject(reason: unknown): void;
}

/** Callers that wait for something with a number. */
export class Waiters<T> {
  readonly #waiters = new Map<number, Set<Waiter<T>>>();

  /** Those that wait. */
  get count(): number {
    return this.#waiters.size;
  }

  /** Waits for a number; rejects with the signal's reason when it is aborted. */
  wait(number: number, signal: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const abort = () => settle(() => reject(signal.reason));
      const settle = (end: () => void) => {
        signal.removeEventListener("abort", abort);
        waiting.delete(waiter);
        if (waiting.size === 0) this.#waiters.delete(number);
        end();
      };
      const waiter: Waiter<T> = {
        resolve: (value) => settle(() => resolve(value)),
        reject: (reason) => settle(() => reject(reason)),
      };
      const waiting = this.#waiters.get(number) ?? new Set();
      this.#waiters.set(number, waiting);
      waiting.add(waiter);
      if (signal.aborted) abort();
      else signal.addEventListener("abort", abort);
    });
  }

  /** Answers everybody who waits for a number. */
  resolve(number: number, value: T): void {
    for (const waiter of [...this.#waiters.get(number) ?? []]) waiter.resolve(value);
  }

  /** Refuses everybody who waits for a number. */
  reject(number: number, reason: unknown): void {
    for (const waiter of [...this.#waiters.get(number) ?? []]) waiter.reject(reason);
  }

  /** Refuses everybody. */
  rejectAll(reason: unknown): void {
    for (const number of [...this.#waiters.keys()]) this.reject(number, reason);
  }
}
