/** The time of a devnet: the machine's, moved forward by tests. */
export class DevnetClock {
  readonly #source: () => number;
  #ahead = 0;

  /** @param source Milliseconds since the epoch; the machine's clock when absent. */
  constructor(source: () => number = Date.now) {
    this.#source = source;
  }

  /** Milliseconds since the epoch. */
  now(): number {
    return this.#source() + this.#ahead;
  }

  /** Moves the time forward. @param ms Milliseconds, at least 0. */
  advance(ms: number): void {
    if (!(ms >= 0)) throw new RangeError("time only moves forward");
    this.#ahead += ms;
  }

  /** How far it is ahead of its source, in milliseconds. */
  get ahead(): number {
    return this.#ahead;
  }
}
