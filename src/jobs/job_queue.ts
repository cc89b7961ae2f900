import type { Scope } from "../interfaces/mod.ts";
import { scopeKey } from "../interfaces/scope_key.ts";
import type { LiveJob } from "./job.ts";

/** Empty places before the first item from which on the others may be moved to the front. */
const FEW = 1024;

/**
 * First in, first out. An array's own `shift` moves all items of a long array, which takes tens of
 * microseconds at 20,000.
 */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #first = 0;

  get size(): number {
    return this.#items.length - this.#first;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#first];
    // Nothing keeps it alive.
    this.#items[this.#first++] = undefined;
    if (this.#first > FEW && this.#first * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }
}

/** Jobs that wait for their turn: urgent ones first, else owners in turn. */
export class JobQueue {
  /**
   * Waiting jobs by owner; the owner served last stands last. Jobs that became urgent stay in here and
   * are skipped; one that is added again keeps its old place.
   */
  readonly #ready = new Map<string, Fifo<LiveJob>>();
  /** The other jobs of those queues, by scope, and their number. */
  readonly #byScope = new Map<string, Set<LiveJob>>();
  #size = 0;
  /** Jobs that a caller waits for. */
  readonly #urgent = new Fifo<LiveJob>();

  get size(): number {
    return this.#size;
  }

  /** Adds a job that is not in the queue. */
  add(live: LiveJob): void {
    const { owner } = live.job;
    this.#byScope.getOrInsertComputed(scopeKey(live.job), () => new Set()).add(live);
    this.#size++;
    this.#ready.getOrInsertComputed(owner, () => new Fifo()).push(live);
  }

  expedite(scope: Scope): void {
    this.#expedite(scopeKey(scope));
  }

  expediteAll(): void {
    for (const key of [...this.#byScope.keys()]) this.#expedite(key);
  }

  nextUrgent(): LiveJob | undefined {
    return this.#urgent.shift();
  }

  next(): LiveJob | undefined {
    for (const [owner, queue] of this.#ready) {
      let live = queue.shift();
      while (live !== undefined && !this.#leave(live)) live = queue.shift();
      this.#ready.delete(owner);
      if (queue.size > 0) this.#ready.set(owner, queue);
      if (live === undefined) continue;
      // Nothing keeps jobs that have left alive.
      if (this.#size === 0) this.#ready.clear();
      return live;
    }
    return undefined;
  }

  /** Moves each job once, however many callers wait: there may be thousands of jobs. */
  #expedite(key: string): void {
    const jobs = this.#byScope.get(key);
    if (jobs === undefined) return;
    for (const live of jobs) this.#urgent.push(live);
    this.#byScope.delete(key);
    this.#size -= jobs.size;
    if (this.#size === 0) this.#ready.clear();
  }

  /** Takes a job out; answers whether it was still waiting. */
  #leave(live: LiveJob): boolean {
    const key = scopeKey(live.job);
    const jobs = this.#byScope.get(key);
    if (!jobs?.delete(live)) return false;
    if (jobs.size === 0) this.#byScope.delete(key);
    this.#size--;
    return true;
  }
}

/** While accepts come in a burst, a job is started this often, milliseconds. */
const PACE_MS = 50;
/** A burst holds jobs back no longer than this, milliseconds. */
const PATIENCE_MS = 10_000;

/**
 * Lets accepts go first: while they come in a burst, jobs are started slowly, so that the burst is
 * on disk soon. Jobs that a caller waits for do not pass through here.
 */
export class BurstPace {
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

  stop(): void {
    clearTimeout(this.#timer);
  }
}
