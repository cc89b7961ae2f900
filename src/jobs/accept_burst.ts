/**
 * So many accepts at once, or one after the other within this long, are a burst; it is over this long
 * after the last of them.
 */
const BURST = { together: 4, inTurn: 10, ms: 50, overMs: 250 };

/** Tells whether accepts arrive faster than their jobs could be done beside them. */
export class AcceptBurst {
  #burstAt = -Infinity;
  #underWay = 0;
  /** Accepts of the last milliseconds, counted anew from time to time. */
  #lately = { since: -Infinity, accepts: 0 };

  get isOn(): boolean {
    return performance.now() - this.#burstAt < BURST.overMs;
  }

  /** To be called with the number of accepts that are written at once. */
  note(count: number): void {
    const now = performance.now();
    if (now - this.#lately.since > BURST.ms) this.#lately = { since: now, accepts: 0 };
    this.#lately.accepts += count;
    const isBurst = count >= BURST.together || this.#lately.accepts >= BURST.inTurn;
    if (isBurst) this.#burstAt = now;
  }

  /** Notes an accept that is under way until what this answers is disposed of. */
  accepting(): Disposable {
    this.note(1);
    if (++this.#underWay >= BURST.together) this.#burstAt = performance.now();
    return { [Symbol.dispose]: () => void this.#underWay-- };
  }
}
