import type { SvcError } from "../errors.ts";
import type { Scope } from "../interfaces/mod.ts";
import type { LiveJob } from "./job.ts";

/** Whether what could not be opened may be opened another time, or by others. */
function mayOpen({ code, retryable }: SvcError): boolean {
  return retryable || code === "decrypt_credential_required" ||
    code === "decrypt_credential_invalid";
}

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
   * Looks for those of a scope that a recall misses, which has no texts of manual memories.
   *
   * @returns how many there are that open for nobody.
   * @throws {SvcError} why one could not be opened when it was tried last, where it may be later, or for
   * somebody else.
   */
  check({ owner, namespace }: Scope): number {
    const missed = [...this.#byOwner.get(owner) ?? []].filter(({ job, isSettled, cancelled }) =>
      job.namespace === namespace && job.source !== "manual" && !isSettled && !cancelled
    );
    for (const { lock } of missed) if (lock && mayOpen(lock)) throw lock;
    return missed.length;
  }
}
