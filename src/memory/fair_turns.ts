import { SvcError } from "../errors.ts";

/** One who waits, and how the wait ends. */
interface Waiter {
  letIn(): void;
  refuse(): void;
}

/**
 * Bounds how much work of one kind is under way at once. The rest waits: holders, such as owners,
 * take turns, each in its own order. Where too many wait, the newest of the holder with most of them
 * is refused, so that one holder's crowd costs others one turn each.
 */
export class FairTurns {
  readonly #most: number;
  readonly #mostWaiting: number;
  /** Those that wait, by holder; the first holder is next. */
  readonly #waiting = new Map<string, Set<Waiter>>();
  #underWay = 0;
  #waiters = 0;

  /** At most `most` are under way, and `mostWaiting` wait. */
  constructor(most: number, mostWaiting: number) {
    this.#most = most;
    this.#mostWaiting = mostWaiting;
  }

  /**
   * Waits for a turn.
   *
   * @param holder whose turn it is to be; all who name none are one.
   * @param signal ends the wait.
   * @returns ends the turn; to be called once.
   * @throws {SvcError} `overloaded` when too many wait, or the signal came first.
   */
  async enter(signal: AbortSignal, holder = ""): Promise<() => void> {
    if (signal.aborted) throw new SvcError("overloaded", undefined, { cause: signal.reason });
    if (this.#underWay < this.#most) this.#underWay++;
    else await this.#wait(signal, holder);
    return () => this.#leave();
  }

  async #wait(signal: AbortSignal, holder: string): Promise<void> {
    if (this.#waiters >= this.#mostWaiting) this.#makeRoom(holder);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const refuse = () => reject(new SvcError("overloaded", undefined, { cause: signal.reason }));
    const waiter: Waiter = { letIn: resolve, refuse };
    const end = () => {
      this.#remove(holder, waiter);
      refuse();
    };
    this.#waiting.getOrInsertComputed(holder, () => new Set()).add(waiter);
    this.#waiters++;
    signal.addEventListener("abort", end, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener("abort", end);
    }
  }

  /** Refuses the newest of the largest crowd, or the one who comes where that is its own. */
  #makeRoom(holder: string): void {
    const own = (this.#waiting.get(holder)?.size ?? 0) + 1;
    let largest: [string, Set<Waiter>] | undefined;
    for (const crowd of this.#waiting) {
      if (crowd[1].size > (largest?.[1].size ?? own)) largest = crowd;
    }
    const newest = largest && [...largest[1]].at(-1);
    if (largest === undefined || newest === undefined) throw new SvcError("overloaded");
    this.#remove(largest[0], newest);
    newest.refuse();
  }

  #remove(holder: string, waiter: Waiter): void {
    const crowd = this.#waiting.get(holder);
    if (!crowd?.delete(waiter)) return;
    this.#waiters--;
    if (crowd.size === 0) this.#waiting.delete(holder);
  }

  /** Lets in the one who waits longest of the next holder, which is then the last. */
  #leave(): void {
    const [next] = this.#waiting;
    const [waiter] = next?.[1] ?? [];
    if (next === undefined || waiter === undefined) {
      this.#underWay--;
      return;
    }
    const [holder, crowd] = next;
    this.#remove(holder, waiter);
    if (this.#waiting.delete(holder)) this.#waiting.set(holder, crowd);
    waiter.letIn();
  }
}
