import type { BackendHealth } from "../../../../src/interfaces/mod.ts";

/** Failures in a row from which an aggregator is left out for a while. */
const FAILURES = 3;
/** First pause in milliseconds; every further failure doubles it. */
const PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
/** Lost races in a row from which an aggregator is asked after the others. */
const LOSSES = 3;
/** For how long, in milliseconds. */
const BEHIND_MS = 30_000;

interface Record {
  failures: number;
  losses: number;
  /** Until when it is left out, milliseconds since the epoch. */
  pausedUntil: number;
  /** Until when it is asked after the others, milliseconds since the epoch. */
  behindUntil: number;
}

/** How the aggregators did lately, which decides in which order they are asked. */
export class Standing {
  readonly #records: ReadonlyMap<string, Record>;
  readonly #now: () => number;

  constructor(urls: readonly string[], now: () => number) {
    this.#now = now;
    this.#records = new Map(
      urls.map((url) => [url, { failures: 0, losses: 0, pausedUntil: 0, behindUntil: 0 }]),
    );
  }

  /**
   * Whom to ask, in order: those that work, then those that were slow, then those that fail. Those
   * in a pause are left out.
   */
  order(): string[] {
    const now = this.#now();
    const rank = (record: Record) =>
      record.failures > 0 ? 1 + record.failures : record.behindUntil > now ? 1 : 0;
    return [...this.#records]
      .filter(([, { pausedUntil }]) => pausedUntil <= now)
      .sort(([, a], [, b]) => rank(a) - rank(b))
      .map(([url]) => url);
  }

  /** Milliseconds until the next aggregator may be asked; 0 when one may be asked now. */
  get waitMs(): number {
    const first = Math.min(...this.#records.values().map(({ pausedUntil }) => pausedUntil));
    return Math.max(0, first - this.#now());
  }

  /** Notes an answer, also that there is no such blob. */
  answered(url: string): void {
    const record = this.#records.get(url)!;
    record.failures = record.losses = 0;
    record.behindUntil = 0;
  }

  /** Notes that another one answered first. */
  outrun(url: string): void {
    const record = this.#records.get(url)!;
    record.losses++;
    if (record.losses >= LOSSES) record.behindUntil = this.#now() + BEHIND_MS;
  }

  /** Notes that there was no usable answer; `pauseMs` is the pause it asked for. */
  failed(url: string, pauseMs: number): void {
    const record = this.#records.get(url)!;
    record.failures++;
    const doublings = record.failures - FAILURES;
    const own = doublings < 0 ? 0 : Math.min(PAUSE_MS * 2 ** Math.min(doublings, 10), MAX_PAUSE_MS);
    record.pausedUntil = Math.max(record.pausedUntil, this.#now() + Math.max(own, pauseMs));
  }

  get health(): BackendHealth {
    const failing = this.#records.values().filter(({ failures }) => failures >= FAILURES)
      .toArray().length;
    if (failing === 0) return { status: "ok" };
    const all = failing === this.#records.size;
    const reason = all ? "No aggregator answers" : "Some aggregators do not answer";
    return { status: all ? "down" : "degraded", reason };
  }
}
