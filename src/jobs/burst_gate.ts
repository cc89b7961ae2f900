/** While accepts come in a burst, a job is started this often, milliseconds. */
const PACE_MS = 50;
/** A burst that lasts longer no longer holds jobs up, milliseconds. */
const PATIENCE_MS = 10_000;

/**
 * Lets accepts go first: while they come in a burst, jobs are started slowly, so that the burst is
 * on disk soon. Jobs that a caller waits for do not pass through here.
 */
export class BurstGate {
  readonly #busy: () => boolean;
  readonly #tryAgain: () => void;
  /** When the burst began and when a job was started in it, by elapsed time. */
  #burst: { readonly since: number; startedAt: number } | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `tryAgain` is called soon after a job was held back. */
  constructor(busy: () => boolean, tryAgain: () => void) {
    this.#busy = busy;
    this.#tryAgain = tryAgain;
  }

  /** Whether the next job has to wait; `idle` when no job is running. */
  holdsBack(idle: boolean): boolean {
    if (!this.#busy()) {
      this.#burst = undefined;
      return false;
    }
    const now = performance.now();
    this.#burst ??= { since: now, startedAt: now };
    if (now - this.#burst.since > PATIENCE_MS) return false;
    if (idle && now - this.#burst.startedAt >= PACE_MS) {
      this.#burst.startedAt = now;
      return false;
    }
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#tryAgain();
    }, PACE_MS);
    return true;
  }

  /** Ends the wait for the next try. */
  stop(): void {
    clearTimeout(this.#timer);
  }
}
