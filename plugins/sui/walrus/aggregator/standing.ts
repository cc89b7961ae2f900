import type { BackendHealth } from "../../../../src/interfaces/mod.ts";

/** Failures in a row after which an aggregator is not asked for a while. */
const FAILURES = 3;
/** First pause in milliseconds; doubled by every further failure. */
const PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
/** Lost races in a row after which an aggregator is asked behind the others. */
const LOSSES = 3;
/** How long it then stays behind, in milliseconds. */
const BEHIND_MS = 30_000;

interface Record {
  readonly url: string;
  failures: number;
  losses: number;
  /** Not asked before this time, milliseconds since the epoch. */
  pausedUntil: number;
  /** Asked behind the others before this time. */
  behindUntil: number;
}

/** What the last requests say about each aggregator, and in which order they are asked. */
export class Standing {
  readonly #records: readonly Record[];
  readonly #now: () => number;

  /** Begins with the order given. */
  constructor(urls: readonly string[], now: () => number) {
    this.#now = now;
    this.#records = urls.map((url) => ({
      url,
      failures: 0,
      losses: 0,
      pausedUntil: 0,
      behindUntil: 0,
    }));
  }

  /**
   * Whom to ask, in order: those that work, then those that were slow, then those that fail. Who
   * is in a pause is left out; none are left when all are.
   */
  order(): string[] {
    const now = this.#now();
    const rank = (record: Record) =>
      record.failures > 0 ? 1 + record.failures : record.behindUntil > now ? 1 : 0;
    return this.#records
      .filter(({ pausedUntil }) => pausedUntil <= now)
      .sort((a, b) => rank(a) - rank(b))
      .map(({ url }) => url);
  }

  /** Milliseconds until the first of them may be asked; 0 when one may be now. */
  get waitMs(): number {
    const first = Math.min(...this.#records.map(({ pausedUntil }) => pausedUntil));
    return Math.max(0, first - this.#now());
  }

  /** It answered, also that it has no such blob. */
  answered(url: string): void {
    const record = this.#of(url);
    record.failures = record.losses = 0;
    record.behindUntil = 0;
  }

  /** Another answered while it was still at it. */
  outrun(url: string): void {
    const record = this.#of(url);
    record.losses++;
    if (record.losses >= LOSSES) record.behindUntil = this.#now() + BEHIND_MS;
  }

  /** It gave no usable answer; `pauseMs` is what it asked for. */
  failed(url: string, pauseMs: number): void {
    const record = this.#of(url);
    record.failures++;
    const doublings = record.failures - FAILURES;
    const own = doublings < 0 ? 0 : Math.min(PAUSE_MS * 2 ** Math.min(doublings, 10), MAX_PAUSE_MS);
    record.pausedUntil = Math.max(record.pausedUntil, this.#now() + Math.max(own, pauseMs));
  }

  /** Of them all together. */
  get health(): BackendHealth {
    const failing = this.#records.filter(({ failures }) => failures >= FAILURES).length;
    if (failing === 0) return { status: "ok" };
    const all = failing === this.#records.length;
    const reason = all ? "No aggregator answers" : "Some aggregators do not answer";
    return { status: all ? "down" : "degraded", reason };
  }

  #of(url: string): Record {
    const record = this.#records.find((item) => item.url === url);
    if (record === undefined) throw new RangeError("not one of the aggregators");
    return record;
  }
}
