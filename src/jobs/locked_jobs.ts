import type { Scope } from "../interfaces/mod.ts";
import type { LiveJob } from "./job.ts";

/** Unfinished jobs that rest until somebody comes with a credential. */
export class LockedJobs {
  readonly #byOwner = new Map<string, Set<LiveJob>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(live: LiveJob): void {
    this.#byOwner.getOrInsertComputed(live.job.owner, () => new Set()).add(live);
    this.#size++;
  }

  /** Answers whether it was among them. */
  delete(live: LiveJob): boolean {
    const { owner } = live.job;
    const own = this.#byOwner.get(owner);
    if (!own?.delete(live)) return false;
    this.#size--;
    if (own.size === 0) this.#byOwner.delete(owner);
    return true;
  }

  of(owner: string): LiveJob[] {
    return [...this.#byOwner.get(owner) ?? []];
  }

  /**
   * Makes sure that there are none of a scope.
   *
   * @throws {SvcError} why one could not be opened when it was tried last.
   */
  check({ owner, namespace }: Scope): void {
    const first = this.#byOwner.get(owner)?.values().find(({ job }) => job.namespace === namespace);
    if (first?.lock !== undefined) throw first.lock;
  }
}
