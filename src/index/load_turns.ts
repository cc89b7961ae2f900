/** Longest that one load waits for others, milliseconds: what they wait for may take minutes. */
const PATIENCE_MS = 10_000;

/** Lets loads wait while there is no room for all of them. */
export class LoadTurns {
  #told: PromiseWithResolvers<void> | undefined;

  /** Something has ended, or takes less room: those who wait look again. */
  tell(): void {
    this.#told?.resolve();
    this.#told = undefined;
  }

  /**
   * The waits of one load: each resolves when nothing holds the load up any more, or all of them
   * together have taken so many milliseconds.
   */
  wait(patienceMs = PATIENCE_MS): (isHeldUp: () => boolean) => Promise<void> {
    let left = patienceMs;
    return async (isHeldUp) => {
      while (left > 0 && isHeldUp()) {
        const since = performance.now();
        this.#told ??= Promise.withResolvers();
        await settledWithin(this.#told.promise, left);
        left -= performance.now() - since;
      }
    };
  }
}

async function settledWithin(promise: Promise<void>, milliseconds: number): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, milliseconds);
  await Promise.race([promise, late.promise]);
  clearTimeout(timer);
}
