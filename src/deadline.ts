/** Longest time of a timer, milliseconds; the platform takes a longer one for none at all. */
const LONGEST_MS = 2_147_483_647;

function timer(callback: () => void, ms: number): ReturnType<typeof setTimeout> {
  return setTimeout(callback, Math.min(ms, LONGEST_MS));
}

/**
 * What a promise gives, unless the signal ends first: then its reason. The work behind the promise
 * goes on, and need not look at the signal.
 */
export async function abortable<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (signal === undefined) return await work;
  const { promise, reject } = Promise.withResolvers<never>();
  const end = () => reject(signal.reason);
  if (signal.aborted) end();
  else signal.addEventListener("abort", end, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", end);
  }
}

/**
 * What a promise gives within so many milliseconds, else what `late` answers or throws. The work goes
 * on; that it fails later is nobody's error.
 */
export async function within<T, L = undefined>(
  ms: number,
  work: Promise<T>,
  late?: () => L,
): Promise<T | L> {
  const over = Promise.withResolvers<void>();
  const id = timer(over.resolve, ms);
  try {
    return await Promise.race([work, over.promise.then(() => late?.() as L)]);
  } finally {
    clearTimeout(id);
  }
}

/** Waits so many milliseconds, or until the signal aborts; never rejects. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return;
  const over = Promise.withResolvers<void>();
  const end = () => over.resolve();
  const id = timer(end, ms);
  signal?.addEventListener("abort", end);
  await over.promise;
  clearTimeout(id);
  signal?.removeEventListener("abort", end);
}

/**
 * A signal that aborts with another one, or when time is up. Close it, or it keeps its timer and
 * listens on.
 */
export class Deadline implements Disposable {
  readonly #ms: number;
  readonly #outer: AbortSignal | undefined;
  readonly #reason: () => unknown;
  readonly #controller = new AbortController();
  readonly #leave = (): void => this.#controller.abort(this.#outer?.reason);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #late = false;

  /**
   * Counts from now on.
   *
   * @param ms How long, milliseconds.
   * @param outer Aborts this one too.
   * @param reason What it aborts with when time is up; a `TimeoutError` where absent.
   */
  constructor(
    ms: number,
    outer?: AbortSignal,
    reason: () => unknown = () => new DOMException("It took too long", "TimeoutError"),
  ) {
    this.#ms = ms;
    this.#outer = outer;
    this.#reason = reason;
    this.restart();
    if (outer?.aborted) this.#leave();
    else outer?.addEventListener("abort", this.#leave, { once: true });
  }

  /** Aborted at the end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether it ended because time was up. */
  get isLate(): boolean {
    return this.#late;
  }

  /** Counts anew. */
  restart(ms: number = this.#ms): void {
    this.stop();
    this.#timer = timer(() => {
      this.#late = !this.signal.aborted;
      this.#controller.abort(this.#reason());
    }, ms);
  }

  /** Does not count until {@linkcode Deadline.restart}. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  /** What work gives before the end, else the signal's reason; the work may ignore the signal. */
  wait<T>(work: Promise<T>): Promise<T> {
    return abortable(work, this.signal);
  }

  /** Frees the timer and the listener. */
  close(): void {
    this.stop();
    this.#outer?.removeEventListener("abort", this.#leave);
  }

  /** The same; not every browser has `using`. */
  [Symbol.dispose](): void {
    this.close();
  }
}
