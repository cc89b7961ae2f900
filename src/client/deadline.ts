/** Longest time of a timer; the platform takes a longer one for none at all. */
export const LONGEST_MS = 2_147_483_647;

/** When waiting for an answer ends: with the caller, or when nothing comes for too long. */
export class Deadline {
  readonly #ms: number;
  readonly #caller: AbortSignal | undefined;
  readonly #controller = new AbortController();
  readonly #leave = (): void => this.#controller.abort(this.#caller?.reason);

  /** Starts nothing; `caller` ends the wait whenever it is aborted. */
  constructor(ms: number, caller: AbortSignal | undefined) {
    this.#ms = ms;
    this.#caller = caller;
    if (caller?.aborted) this.#leave();
    else caller?.addEventListener("abort", this.#leave, { once: true });
  }

  /** Aborted when the wait is over. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What work comes to within the time; a `fetch` of the caller's may ignore the signal. */
  async wait<T>(work: Promise<T>): Promise<T> {
    const { signal } = this;
    const ended = Promise.withResolvers<never>();
    const end = (): void => ended.reject(signal.reason);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
    const timer = setTimeout(() => this.#controller.abort(), Math.min(this.#ms, LONGEST_MS));
    try {
      return await Promise.race([ended.promise, work]);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
    }
  }

  /** Lets go of the caller's signal. */
  close(): void {
    this.#caller?.removeEventListener("abort", this.#leave);
  }
}
