import type { Scope } from "../interfaces/mod.ts";
import type { LiveJob } from "./live_job.ts";

function scopeKey(scope: Scope): string {
  return `${scope.owner}\n${scope.namespace}`;
}

/** The unfinished jobs in memory, by id and by scope. */
export class LiveJobs {
  readonly #byId = new Map<string, LiveJob>();
  readonly #byScope = new Map<string, Set<LiveJob>>();

  /** Number of unfinished jobs. */
  get size(): number {
    return this.#byId.size;
  }

  /** When the oldest unfinished job was accepted; `undefined` when there is none. */
  get oldest(): number | undefined {
    // Insertion order is the order of acceptance.
    return this.#byId.values().next().value?.job.acceptedAt;
  }

  /** Unfinished jobs by state. */
  counts(): { pending: number; running: number } {
    let running = 0;
    for (const live of this.#byId.values()) if (live.state !== "pending") running++;
    return { pending: this.#byId.size - running, running };
  }

  /** Adds a job. */
  add(live: LiveJob): LiveJob {
    this.#byId.set(live.job.id, live);
    this.#byScope.getOrInsertComputed(scopeKey(live.job), () => new Set()).add(live);
    return live;
  }

  /** Removes a job. */
  remove(live: LiveJob): void {
    this.#byId.delete(live.job.id);
    const key = scopeKey(live.job);
    const scope = this.#byScope.get(key);
    scope?.delete(live);
    if (scope?.size === 0) this.#byScope.delete(key);
  }

  /** A job by id. */
  get(id: string): LiveJob | undefined {
    return this.#byId.get(id);
  }

  /** Every job. */
  all(): LiveJob[] {
    return [...this.#byId.values()];
  }

  /** Jobs of a scope. */
  in(scope: Scope): LiveJob[] {
    return [...this.#byScope.get(scopeKey(scope)) ?? []];
  }

  /**
   * Waits until the scope's jobs that are unfinished now are recallable or failed.
   *
   * @returns how many are left after `timeoutMs`.
   */
  async settle(scope: Scope, timeoutMs: number): Promise<number> {
    const waiting = this.in(scope).filter((live) => !live.recallable);
    if (waiting.length === 0) return 0;
    if (timeoutMs > 0) {
      const timeout = Promise.withResolvers<void>();
      const timer = setTimeout(timeout.resolve, timeoutMs);
      await Promise.race([Promise.all(waiting.map((live) => live.settled)), timeout.promise]);
      clearTimeout(timer);
    }
    return waiting.filter((live) => !live.recallable && live.state !== "failed").length;
  }
}
