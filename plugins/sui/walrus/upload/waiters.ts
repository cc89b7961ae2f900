import { abortable } from "../../../../src/deadline.ts";

/** Callers that wait for something by its number. */
export class Waiters<T> {
  readonly #waiting = new Map<number, PromiseWithResolvers<T>>();

  /** Waits for a number; rejects with the signal's reason when it aborts. */
  wait(number: number, signal: AbortSignal): Promise<T> {
    const { promise } = this.#waiting.getOrInsertComputed(number, () => {
      const waiting = Promise.withResolvers<T>();
      // Everybody who waits may have given up.
      waiting.promise.catch(() => {});
      return waiting;
    });
    return abortable(promise, signal);
  }

  resolve(number: number, value: T): void {
    this.#waiting.get(number)?.resolve(value);
    this.#waiting.delete(number);
  }

  reject(number: number, reason: unknown): void {
    this.#waiting.get(number)?.reject(reason);
    this.#waiting.delete(number);
  }

  rejectAll(reason: unknown): void {
    for (const number of [...this.#waiting.keys()]) this.reject(number, reason);
  }
}
