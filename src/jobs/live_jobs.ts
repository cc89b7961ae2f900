import type { JobErrorCode } from "../errors.ts";
import type { Scope } from "../interfaces/mod.ts";
import { scopeKey } from "../interfaces/scope_key.ts";
import type { AcceptedJob, JobState, JobView } from "./job.ts";
import type { Stored } from "./staging.ts";

/** What was accepted for sure. */
export const ACCEPTED: Promise<boolean> = Promise.resolve(true);

/**
 * An unfinished job in memory; the KV table holds the same facts durably. Tens of thousands may wait:
 * what few of them need is made when it is asked for.
 */
export class LiveJob {
  /** What was accepted. */
  readonly job: AcceptedJob;
  /** Current state. */
  state: JobState = "pending";
  /** Tries so far. */
  attempts = 0;
  /** Whether the memory is encrypted and indexed. */
  recallable = false;
  /** Whether its memory was deleted meanwhile. */
  cancelled = false;
  /** When it may run next, milliseconds since the epoch. */
  due: number;
  /** When it last changed. */
  updatedAt: number;
  /** Blob of the memory, when stored. */
  blobId: string | undefined;
  /** Why the last try failed. */
  errorCode: JobErrorCode | undefined;
  /** Whether the commit that accepts it succeeded; known once that is answered. */
  accepted: Promise<boolean> = ACCEPTED;
  /** Sealed result of an attempt, once saved. */
  step: Stored | undefined;
  /** Whether an attempt may have stored the blob without its id being known. */
  mayBeStored = false;
  /** Set while somebody finds that id out. */
  naming: Promise<void> | undefined;
  /** Set as soon as somebody ends the job: from then on nothing else is written for it. */
  ending: Promise<void> | undefined;
  /** Called once when the memory is recallable or never will be by this run. */
  onSettled: ((live: LiveJob) => void) | undefined;
  #isSettled = false;
  #hasEnded = false;
  #ended: PromiseWithResolvers<void> | undefined;

  /** Starts as pending and due at once. */
  constructor(job: AcceptedJob, due: number) {
    this.job = job;
    this.due = due;
    this.updatedAt = job.acceptedAt;
  }

  /** Whether the memory is recallable or never will be by this run. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Resolves when the job is done or failed. */
  get ended(): Promise<void> {
    this.#ended ??= Promise.withResolvers();
    if (this.#hasEnded) this.#ended.resolve();
    return this.#ended.promise;
  }

  /** Marks the memory as recallable. */
  markRecallable(): void {
    this.recallable = true;
    this.#settle();
  }

  /** Marks the job as done or failed. */
  markEnded(state: "done" | "failed", at: number): void {
    this.state = state;
    this.updatedAt = at;
    this.#settle();
    this.#hasEnded = true;
    this.#ended?.resolve();
  }

  #settle(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.onSettled?.(this);
  }

  /** The job for callers. */
  view(): JobView {
    const { payload: _, ...spec } = this.job;
    const { state, recallable, attempts, updatedAt, blobId, errorCode } = this;
    return { ...spec, state, recallable, attempts, updatedAt, blobId, errorCode };
  }
}

/** What is not settled in a scope. Thousands may be, and every recall of the scope asks. */
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

/** Unfinished jobs that nobody has taken up: thousands may be taken up, and not looked at again. */
export interface AtRest {
  /** The jobs. */
  readonly atRest: ReadonlySet<LiveJob>;
  /** Takes a job up; answers whether it was at rest. */
  takeUp(live: LiveJob): boolean;
  /** Lets a job that was taken up rest, unless it has ended. */
  putDown(live: LiveJob): void;
}

/** The unfinished jobs in memory, by id and by scope. */
export class LiveJobs implements AtRest {
  readonly #byId = new Map<string, LiveJob>();
  readonly #byScope = new Map<string, Set<LiveJob>>();
  readonly #unsettled = new Map<string, Unsettled>();
  /** Jobs that nobody has taken up. */
  readonly #atRest = new Set<LiveJob>();
  /** Bytes of the payloads of unsettled jobs, by owner. */
  readonly #bytes = new Map<string, number>();
  /** Number of the job added last. */
  #last = 0;

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
    this.#atRest.add(live);
    const key = scopeKey(live.job);
    this.#byScope.getOrInsertComputed(key, () => new Set()).add(live);
    if (live.isSettled) return live;
    const none = () => ({ jobs: new Map(), waiters: new Set<Waiter>() });
    this.#unsettled.getOrInsertComputed(key, none).jobs.set(live, ++this.#last);
    this.#count(live, 1);
    live.onSettled = this.#settled;
    return live;
  }

  /** Removes a job. */
  remove(live: LiveJob): void {
    this.#byId.delete(live.job.id);
    this.#atRest.delete(live);
    const key = scopeKey(live.job);
    const scope = this.#byScope.get(key);
    scope?.delete(live);
    if (scope?.size === 0) this.#byScope.delete(key);
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

  /** Bytes of the payloads of an owner's jobs that are neither recallable nor ended. */
  unsettledBytes(owner: string): number {
    return this.#bytes.get(owner) ?? 0;
  }

  /** A job by id. */
  get(id: string): LiveJob | undefined {
    return this.#byId.get(id);
  }

  /** Every job. */
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
