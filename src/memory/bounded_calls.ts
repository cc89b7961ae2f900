import { SvcError } from "../errors.ts";

function late(signal: AbortSignal): SvcError {
  return new SvcError("overloaded", undefined, { cause: signal.reason });
}

/** Bounds how many calls of one kind are under way at once; the others wait in order. */
export class BoundedCalls {
  readonly #most: number;
  readonly #mostWaiting: number;
  readonly #waiting = new Set<() => void>();
  #underWay = 0;

  /** At most `most` calls are under way, and `mostWaiting` wait. */
  constructor(most: number, mostWaiting: number) {
    this.#most = most;
    this.#mostWaiting = mostWaiting;
  }

  /**
   * Waits for room for one call.
   *
   * @param signal ends the wait.
   * @returns gives the room back; to be called once, when the call has ended.
   * @throws {SvcError} `overloaded` when too many wait already, or the signal came first.
   */
  async enter(signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) throw late(signal);
    if (this.#underWay < this.#most) this.#underWay++;
    else await this.#wait(signal);
    return () => this.#leave();
  }

  async #wait(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.#mostWaiting) throw new SvcError("overloaded");
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const end = () => {
      this.#waiting.delete(resolve);
      reject(late(signal));
    };
    this.#waiting.add(resolve);
    signal.addEventListener("abort", end, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener("abort", end);
    }
  }

  /** Lets in the call that waits longest. */
  #leave(): void {
    const next = this.#waiting.values().next();
    if (next.done) this.#underWay--;
    else {
      this.#waiting.delete(next.value);
      next.value();
    }
  }
}
