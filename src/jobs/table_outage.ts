import type { Logger } from "../log.ts";

/** Pause between two tries, milliseconds. */
const PAUSE_MS = 2_000;

/**
 * Holds jobs back while their table takes no writes, as on a full disk: none of them is to blame, so
 * none uses up its tries. One is let through now and then, to see whether it is over.
 */
export class TableOutage {
  readonly #tryAgain: () => void;
  readonly #logger: Logger;
  #isOn = false;
  #mayTry = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `tryAgain` is called when jobs may be started that were held back. */
  constructor(tryAgain: () => void, logger: Logger) {
    this.#tryAgain = tryAgain;
    this.#logger = logger;
  }

  /** How many jobs may run at once where otherwise so many may. */
  limit(concurrency: number): number {
    if (!this.#isOn) return concurrency;
    return this.#mayTry ? 1 : 0;
  }

  /** To be called when the table refused a write; `reason` is an error code. */
  refused(reason: string): void {
    // Thousands of jobs may wait: one line says it for all.
    if (!this.#isOn) this.#logger.error("jobs_held_back", { reason });
    this.#isOn = true;
    this.#mayTry = false;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.letOneTry();
      this.#tryAgain();
    }, PAUSE_MS);
  }

  /** Lets the next job through. */
  letOneTry(): void {
    this.#mayTry = true;
  }

  /** To be called when the table took a write. */
  over(): void {
    if (!this.#isOn) return;
    this.#isOn = false;
    this.stop();
    this.#logger.info("jobs_go_on");
    this.#tryAgain();
  }

  /** Ends the wait for the next try. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
