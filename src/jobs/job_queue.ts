import type { Scope } from "../interfaces/mod.ts";
import { scopeKey } from "../interfaces/scope_key.ts";
import { Fifo } from "./fifo.ts";
import type { LiveJob } from "./live_job.ts";

/** Jobs that wait for their turn: urgent ones first, else owners in turn. */
export class JobQueue {
  /**
   * Waiting jobs by owner; the owner served last stands last. A queue may still have jobs that became
   * urgent; one that is added again while it does takes that place.
   */
  readonly #ready = new Map<string, Fifo<LiveJob>>();
  /** The other jobs of those queues, by scope, and their number. */
  readonly #byScope = new Map<string, Set<LiveJob>>();
  #size = 0;
  /** Jobs that a caller waits for. */
  readonly #urgent = new Fifo<LiveJob>();

  /** Number of jobs that wait and are not urgent. */
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

  /** Makes a scope's jobs urgent. */
  expedite(scope: Scope): void {
    this.#expedite(scopeKey(scope));
  }

  /** Makes every job urgent. */
  expediteAll(): void {
    for (const key of [...this.#byScope.keys()]) this.#expedite(key);
  }

  /** Takes the urgent job that waits longest. */
  nextUrgent(): LiveJob | undefined {
    return this.#urgent.shift();
  }

  /** Takes the next of the others. */
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

  /** There may be thousands, and many who wait: each job is moved once. */
  #expedite(key: string): void {
    const jobs = this.#byScope.get(key);
    if (jobs === undefined) return;
    for (const live of jobs) this.#urgent.push(live);
    this.#byScope.delete(key);
    this.#size -= jobs.size;
    if (this.#size === 0) this.#ready.clear();
  }

  /** Answers whether the job was waiting still. */
  #leave(live: LiveJob): boolean {
    const key = scopeKey(live.job);
    const jobs = this.#byScope.get(key);
    if (!jobs?.delete(live)) return false;
    if (jobs.size === 0) this.#byScope.delete(key);
    this.#size--;
    return true;
  }
}
