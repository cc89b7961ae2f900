import { currentSpan, type TraceParent } from "../tracing.ts";
import type { JobErrorCode } from "../errors.ts";
import type { AcceptedJob, HeldJob, JobSpec, Lease, Scope, Stored } from "../interfaces/mod.ts";
import { scopeKey } from "../interfaces/scope_key.ts";

export type {
  AcceptedJob,
  EndedJob,
  JobSpec,
  Progress,
  Proposing,
  WrittenStanding,
} from "../interfaces/mod.ts";

/** State of a job (docs/protocol.md#8). */
export type JobState = "pending" | "running" | "uploaded" | "done" | "failed";

export interface Ending {
  readonly state: "done" | "failed";
  readonly errorCode?: JobErrorCode;
  /** Keeps the payload, so that the job can be retried. */
  readonly keepPayload?: boolean;
  /** Keeps the sealed result, where a memory or a blob may be made of it already. */
  readonly keepStep?: boolean;
}

/** A job whose payload is there. */
export interface Waiting {
  readonly job: Pick<AcceptedJob, "id" | "payload" | "payloadKey">;
}

/** A job record for callers (docs/protocol.md#8). */
export interface JobView extends JobSpec {
  readonly state: JobState;
  /** Whether the memory is encrypted and indexed. */
  readonly recallable: boolean;
  readonly attempts: number;
  readonly updatedAt: number;
  readonly blobId: string | undefined;
  /** Whether it waits for somebody with a credential. */
  readonly isLocked?: boolean;
  /** Why it failed, or why the last try did. */
  readonly errorCode: JobErrorCode | undefined;
}

/** Texts for people of the job error codes. */
export const JOB_ERRORS: Readonly<Record<JobErrorCode, string>> = {
  embedding_failed: "The text could not be embedded",
  encryption_failed: "The memory could not be encrypted",
  storage_failed: "The memory could not be stored",
  quota_exceeded: "The storage quota is used up",
  deleted: "The memory was deleted",
  internal_error: "Something went wrong on our side",
};

/** Whether a job was accepted, for jobs whose commit has succeeded. */
export const ACCEPTED: Promise<boolean> = Promise.resolve(true);

/**
 * An unfinished job in memory; a store keeps the same facts durably. Tens of thousands may wait:
 * what few of them need is made when it is asked for.
 */
export class LiveJob {
  readonly job: AcceptedJob;
  state: JobState = "pending";
  attempts = 0;
  /** Whether the memory is encrypted and indexed. */
  recallable = false;
  /** Model of the vectors that it is indexed with. */
  model: string | undefined;
  /** Whether its memory was deleted meanwhile. */
  cancelled = false;
  /** What its writes name; good once the commit that accepts it succeeded. */
  lease: Lease;
  /** When it may run next, milliseconds since the epoch. */
  due: number;
  updatedAt: number;
  blobId: string | undefined;
  errorCode: JobErrorCode | undefined;
  /** Whether the commit that accepts the job succeeded. */
  accepted: Promise<boolean> = ACCEPTED;
  /** Sealed result of an attempt, once saved. */
  step: Stored | undefined;
  /** Whether an attempt may have written the row without having been told so. */
  mayBeIndexed = false;
  /** Whether an attempt may have stored the blob without its id being known. */
  mayBeStored = false;
  /** Set while the id of that blob is being found out. */
  naming: Promise<void> | undefined;
  /** Whether another relayer has taken it over: nothing is written for it any more. */
  isLetGo = false;
  /** Whether its payload cannot be opened before somebody comes with a credential. */
  isLocked = false;
  /** Set once the job is being ended: from then on nothing else is written for it. */
  ending: Promise<void> | undefined;
  /** Called once when the memory is recallable or never will be by this run. */
  onSettled: ((live: LiveJob) => void) | undefined;
  /** What was under way when it was made: the request that brought it. */
  readonly origin: TraceParent | undefined = currentSpan();
  #isSettled = false;
  #hasEnded = false;
  #ended: PromiseWithResolvers<void> | undefined;

  constructor(job: AcceptedJob, due: number) {
    this.job = job;
    this.due = due;
    this.updatedAt = job.acceptedAt;
    this.lease = { jobId: job.id, turn: 0 };
  }

  /**
   * A job that another process left, as far as that came. One that is indexed with vectors of another
   * model than the present one is not recallable again before it has others.
   */
  static resumed({ job, lease, progress, step }: HeldJob, present: string): LiveJob {
    const { attempts = 0, errorCode, recallable = false, due = job.acceptedAt } = progress ?? {};
    const live = new LiveJob(job, due);
    live.lease = lease;
    live.attempts = attempts;
    live.errorCode = errorCode;
    live.step = step;
    // Without a saved result nothing was stored yet.
    live.mayBeStored = step !== undefined;
    if (attempts > 0) live.state = "running";
    const { model = present } = progress ?? {};
    if (recallable && model === present) live.markRecallable(model);
    return live;
  }

  /** Whether the memory is recallable or never will be by this run. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  get ended(): Promise<void> {
    this.#ended ??= Promise.withResolvers();
    if (this.#hasEnded) this.#ended.resolve();
    return this.#ended.promise;
  }

  markRecallable(model?: string): void {
    this.recallable = true;
    this.model = model;
    this.#settle();
  }

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

  view(): JobView {
    const { payload: _, payloadKey: __, ...spec } = this.job;
    const { state, recallable, attempts, updatedAt, blobId, isLocked, errorCode } = this;
    return { ...spec, state, recallable, attempts, updatedAt, blobId, isLocked, errorCode };
  }
}

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
  /** Locked ones by owner. */
  readonly #locked = new Map<string, Set<LiveJob>>();
  /** Unfinished jobs by owner. */
  readonly #owned = new Map<string, number>();
  /** Bytes of the payloads of unsettled jobs, by owner. */
  readonly #bytes = new Map<string, number>();
  #last = 0;

  get size(): number {
    return this.#byId.size;
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
    if (live.isLocked) this.#locked.getOrInsertComputed(owner, () => new Set()).add(live);
    this.#atRest.add(live);
    const key = scopeKey(live.job);
    this.#byScope.getOrInsertComputed(key, () => new Set()).add(live);
    if (mayChange(live.job)) this.#changing.getOrInsertComputed(key, () => new Set()).add(live);
    const { id, memoryId } = live.job;
    if (id !== memoryId) this.#others.getOrInsertComputed(memoryId, () => new Set()).add(live);
    if (live.isSettled) return live;
    const none = () => ({ jobs: new Map(), waiters: new Set<Waiter>() });
    this.#unsettled.getOrInsertComputed(key, none).jobs.set(live, ++this.#last);
    this.#count(live, 1);
    live.onSettled = this.#settled;
    return live;
  }

  remove(live: LiveJob): void {
    if (this.#byId.delete(live.job.id)) this.#own(live.job.owner, -1);
    this.#atRest.delete(live);
    if (live.isLocked) this.unlock(live);
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

  /** Jobs of an owner that are locked. */
  lockedOf(owner: string): LiveJob[] {
    return [...this.#locked.get(owner) ?? []];
  }

  /** Says that a job can be opened, or is gone. */
  unlock(live: LiveJob): void {
    live.isLocked = false;
    const locked = this.#locked.get(live.job.owner);
    if (locked?.delete(live) && locked.size === 0) this.#locked.delete(live.job.owner);
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
