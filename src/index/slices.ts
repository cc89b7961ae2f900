import { setImmediate } from "node:timers";

/** Time after which other work gets its turn, in milliseconds. */
const SLICE_MS = 3;
/**
 * While it is busy, the event loop looks for requests and for what other threads finished in every
 * 31st turn only. A turn takes two microseconds.
 */
const TURNS = 40;

/** Long work, cut into slices of a few milliseconds between which requests are served. */
export class Slices {
  readonly #now: () => number;
  #started: number;

  /** Starts the first slice. `now` tells milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#started = now();
  }

  /** To be awaited between two steps of the work: returns at once, or after others had their turn. */
  async rest(): Promise<void> {
    if (this.#now() - this.#started < SLICE_MS) return;
    for (let i = 0; i < TURNS; i++) await new Promise<void>((resolve) => setImmediate(resolve));
    this.#started = this.#now();
  }
}
