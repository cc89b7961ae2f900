import type { JobSpec, Scope } from "../interfaces/mod.ts";
import { scopeKey } from "../interfaces/scope_key.ts";
import type { LiveJob } from "./job.ts";
import { LockedJobs } from "./locked_jobs.ts";

/** The unsettled jobs of a scope: every recall waits for them, and there may be thousands. */
interface Unsettled {
  /** The jobs, in the order of acceptance, with their numbers. */
  readonly jobs: Map<LiveJob, number>;
  readonly waiters: Set<Waiter>;
}

/** Somebody who waits for all jobs up to a number. */
interface Waiter {
  readonly last: number;
  readonly resolve: () => void;
}

/** Unfinished jobs that no queue or timer holds, so that a sweep need not look at the others. */
export interface AtRest {
  readonly atRest: ReadonlySet<LiveJob>;
  /** Takes a job up; answers whether it was at rest. */
  takeUp(live: LiveJob): boolean;
  /** Lets a job that was taken up rest, unless it has ended. */
  putDown(live: LiveJob): void;
}

/** Whether a job writes another version, names others, or may have a key, which is in its payload. */
function mayChange({ version, standing, proposes, source }: JobSpec): boolean {
  return version > 1 || standing?.links !== undefined ||
    (proposes === undefined && source !== "manual");
}

/** The unfinished jobs in memory, by id and by scope. */
export class LiveJobs implements AtRest {
  readonly #byId = new Map<string, LiveJob>();
  readonly #byScope = new Map<string, Set<LiveJob>>();
  /** Jobs whose id is not that of their memory, by their memory. */
  readonly #others = new Map<string, Set<LiveJob>>();
  readonly #unsettled = new Map<string, Unsettled>();
  /** By scope, those that may change what other memories say: most writes only add one. */
  readonly #changing = new Map<string, Set<LiveJob>>();
  readonly #atRest = new Set<LiveJob>();
  /** Those that nobody waits for. */
  readonly locked = new LockedJobs();
  /** Unfinished jobs by owner. */
  readonly #owned = new Map<string, number>();
  /** Bytes of the payloads of unsettled jobs, by owner. */
  readonly #bytes = new Map<string, number>();
  #last = 0;

  get size(): number {
    return this.#byId.size;
  }

  /** How many are not locked. */
  get openCount(): number {
    return this.#byId.size - this.locked.size;
  }

  /** When the oldest unfinished job was accepted that is not locked; `undefined` when there is none. */
  get oldest(): number | undefined {
    // Insertion order is the order of acceptance.
    return this.#byId.values().find(({ isLocked }) => !isLocked)?.job.acceptedAt;
  }

  counts(): { pending: number; running: number; locked: number } {
    const counts = { pending: 0, running: 0, locked: 0 };
    for (const { isLocked, state } of this.#byId.values()) {
      counts[isLocked ? "locked" : state === "pending" ? state : "running"]++;
    }
    return counts;
  }

  add(live: LiveJob): LiveJob {
    const { owner } = live.job;
    this.#byId.set(live.job.id, live);
    this.#own(owner, 1);
    this.#atRest.add(live);
    const key = scopeKey(live.job);
    this.#byScope.getOrInsertComputed(key, () => new Set()).add(live);
    if (mayChange(live.job)) this.#changing.getOrInsertComputed(key, () => new Set()).add(live);
    const { id, memoryId } = live.job;
    if (id !== memoryId) this.#others.getOrInsertComputed(memoryId, () => new Set()).add(live);
    if (live.isLocked) this.locked.add(live);
    else this.#expect(live);
    return live;
  }

  /** Lets recalls of its scope wait for a job. */
  #expect(live: LiveJob): void {
    if (live.isSettled) return;
    const none = () => ({ jobs: new Map(), waiters: new Set<Waiter>() });
    this.#unsettled.getOrInsertComputed(scopeKey(live.job), none).jobs.set(live, ++this.#last);
    this.#count(live, 1);
    live.onSettled = this.#settled;
  }

  remove(live: LiveJob): void {
    if (this.#byId.delete(live.job.id)) this.#own(live.job.owner, -1);
    this.#atRest.delete(live);
    this.locked.delete(live);
    const key = scopeKey(live.job);
    const scope = this.#byScope.get(key);
    scope?.delete(live);
    if (scope?.size === 0) this.#byScope.delete(key);
    const changing = this.#changing.get(key);
    changing?.delete(live);
    if (changing?.size === 0) this.#changing.delete(key);
    const { memoryId } = live.job;
    const others = this.#others.get(memoryId);
    others?.delete(live);
    if (others?.size === 0) this.#others.delete(memoryId);
    this.#settled(live);
  }

  readonly #settled = (live: LiveJob): void => {
    const key = scopeKey(live.job);
    const unsettled = this.#unsettled.get(key);
    if (!unsettled?.jobs.delete(live)) return;
    this.#count(live, -1);
    if (unsettled.jobs.size === 0) this.#unsettled.delete(key);
    if (unsettled.waiters.size === 0) return;
    const oldest = unsettled.jobs.values().next().value ?? Infinity;
    for (const { last, resolve } of unsettled.waiters) if (last < oldest) resolve();
  };

  #count({ job: { owner, bytes } }: LiveJob, sign: 1 | -1): void {
    const sum = (this.#bytes.get(owner) ?? 0) + sign * bytes;
    if (sum === 0) this.#bytes.delete(owner);
    else this.#bytes.set(owner, sum);
  }

  #own(owner: string, change: 1 | -1): void {
    const jobs = this.countOf(owner) + change;
    if (jobs === 0) this.#owned.delete(owner);
    else this.#owned.set(owner, jobs);
  }

  /** Unfinished jobs of an owner. */
  countOf(owner: string): number {
    return this.#owned.get(owner) ?? 0;
  }

  /** Those that are not locked. */
  openCountOf(owner: string): number {
    return this.countOf(owner) - this.locked.of(owner).length;
  }

  /** Bytes of the payloads of an owner's jobs that are neither recallable nor ended. */
  unsettledBytes(owner: string): number {
    return this.#bytes.get(owner) ?? 0;
  }

  get(id: string): LiveJob | undefined {
    return this.#byId.get(id);
  }

  /** The unfinished jobs of an owner's memory. */
  of(owner: string, memoryId: string): LiveJob[] {
    const own = this.#byId.get(memoryId);
    // Another owner may have brought a memory of the same id along.
    return [...own === undefined ? [] : [own], ...this.#others.get(memoryId) ?? []]
      .filter(({ job }) => job.owner === owner);
  }

  /** Says that a job can be opened: it is waited for again, unless it is gone. */
  unlock(live: LiveJob): void {
    live.lock = undefined;
    if (this.locked.delete(live)) this.#expect(live);
  }

  all(): LiveJob[] {
    return [...this.#byId.values()];
  }

  get atRest(): ReadonlySet<LiveJob> {
    return this.#atRest;
  }

  takeUp(live: LiveJob): boolean {
    return this.#atRest.delete(live);
  }

  putDown(live: LiveJob): void {
    if (this.#byId.get(live.job.id) === live) this.#atRest.add(live);
  }

  in(scope: Scope): LiveJob[] {
    return [...this.#byScope.get(scopeKey(scope)) ?? []];
  }

  /** Jobs of a scope that may change or take the place of memories that are there. */
  changingIn(scope: Scope): Iterable<LiveJob> {
    return this.#changing.get(scopeKey(scope)) ?? [];
  }

  /**
   * Jobs of a scope that were accepted before another one and are not recallable yet, the oldest first:
   * `most` of those that wait the longest.
   */
  waitingBefore(scope: Scope, id: string, most: number): LiveJob[] {
    const waiting = this.#unsettled.get(scopeKey(scope))?.jobs.keys().take(most) ?? [];
    return [...waiting].filter(({ job }) => job.id < id);
  }

  /**
   * Waits until the scope's jobs that are unfinished now are recallable or failed.
   *
   * @returns how many are left after `timeoutMs`.
   * @throws {SvcError} why one of them cannot be opened: it is not waited for.
   */
  async settle(scope: Scope, timeoutMs: number): Promise<number> {
    const locked = this.locked.check(scope);
    return locked + await this.#settleOpen(scope, timeoutMs);
  }

  async #settleOpen(scope: Scope, timeoutMs: number): Promise<number> {
    const unsettled = this.#unsettled.get(scopeKey(scope));
    if (unsettled === undefined) return 0;
    if (timeoutMs <= 0) return unsettled.jobs.size;
    const last = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiter: Waiter = { last, resolve };
    unsettled.waiters.add(waiter);
    const timer = setTimeout(resolve, timeoutMs);
    await promise;
    clearTimeout(timer);
    unsettled.waiters.delete(waiter);
    let left = 0;
    for (const number of unsettled.jobs.values()) {
      if (number > last) break;
      left++;
    }
    return left;
  }
}
