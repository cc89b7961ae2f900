import type { AcceptBurst } from "./accept_burst.ts";
import { type JobErrorCode, SvcError } from "../errors.ts";
import type {
  AcceptedJob,
  EndedJob,
  JobStore,
  Lease,
  Note,
  Progress,
  Scope,
} from "../interfaces/mod.ts";
import { acceptedJob } from "../interfaces/job_store.ts";
import { EndedJobs, endedRecord } from "./ended_jobs.ts";
import { ACCEPTED, type Ending, type JobView, LiveJob, progressOf, type Waiting } from "./job.ts";
import { TimeOrderedIds } from "./job_ids.ts";
import { type AtRest, LiveJobs } from "./live_jobs.ts";
import type { LockedJobs } from "./locked_jobs.ts";
import type { Kept } from "./replay.ts";

interface JobsOptions {
  /** Unfinished jobs above which nothing more is accepted. */
  readonly maxPending: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Told of accepts, where the store does not see them itself. */
  readonly burst?: AcceptBurst;
  /** Whether the payload of a job can be opened now; all can when absent. */
  readonly isOpen?: (job: AcceptedJob) => boolean;
}

/** Jobs claimed at a time. */
const BATCH = 500;

/**
 * The jobs of this relayer, over a store that keeps them. Unfinished ones also live in memory, and the
 * store is asked for them at the start only.
 */
export class Jobs {
  readonly #store: JobStore;
  readonly #options: JobsOptions;
  readonly #ids = new TimeOrderedIds();
  /** Also jobs whose commit is not answered yet: its wake-up message may arrive first. */
  readonly #live = new LiveJobs();
  readonly #ended: EndedJobs;

  /** Uses a store that is the caller's. */
  constructor(store: JobStore, options: JobsOptions) {
    this.#store = store;
    this.#options = options;
    this.#ended = new EndedJobs(store, this.#live);
  }

  get size(): number {
    return this.#live.size;
  }

  /** Unfinished jobs that are not locked. */
  get openCount(): number {
    return this.#live.openCount;
  }

  get oldest(): number | undefined {
    return this.#live.oldest;
  }

  counts(): { pending: number; running: number; locked: number } {
    return this.#live.counts();
  }

  /** Reads every unfinished job, or takes those of an owner over from whoever had them. */
  async recover(model: string, owner?: string): Promise<LiveJob[]> {
    const jobs: LiveJob[] = [];
    for (;;) {
      const claimed = await this.#store.claim(BATCH, owner);
      for (const held of claimed) {
        const live = LiveJob.resumed(held, model);
        live.lock = this.#lockOf(live.job);
        jobs.push(this.#live.add(live));
      }
      if (claimed.length < BATCH) return jobs;
    }
  }

  /** Forgets the unfinished jobs of an owner, which another relayer takes over. */
  letGo(owner: string): void {
    for (const live of this.liveOf(owner)) {
      live.letGo();
      this.#live.remove(live);
    }
  }

  /** Unfinished jobs that nobody has taken up. */
  get rest(): AtRest {
    return this.#live;
  }

  live(id: string): LiveJob | undefined {
    return this.#live.get(id);
  }

  /** The unfinished job of the newest version of an owner's memory. */
  newestOf(owner: string, memoryId: string): LiveJob | undefined {
    const jobs = this.#live.of(owner, memoryId);
    return jobs.reduce<LiveJob | undefined>(
      (newest, live) => live.job.version > (newest?.job.version ?? 0) ? live : newest,
      undefined,
    );
  }

  /** The unfinished job of one version of an owner's memory. */
  liveVersion(owner: string, memoryId: string, version: number): LiveJob | undefined {
    return this.#live.of(owner, memoryId).find(({ job }) => job.version === version);
  }

  liveIn(scope: Scope): LiveJob[] {
    return this.#live.in(scope);
  }

  changingIn(scope: Scope): Iterable<LiveJob> {
    return this.#live.changingIn(scope);
  }

  waitingBefore(scope: Scope, id: string, most: number): LiveJob[] {
    return this.#live.waitingBefore(scope, id, most);
  }

  liveOf(owner: string): LiveJob[] {
    return this.#live.all().filter((live) => live.job.owner === owner);
  }

  #lockOf(job: AcceptedJob): SvcError | undefined {
    const isOpen = this.#options.isOpen?.(job) ?? true;
    return isOpen ? undefined : new SvcError("decrypt_credential_required");
  }

  /** Those that rest until somebody comes with a credential. */
  get locked(): Pick<LockedJobs, "of"> {
    return this.#live.locked;
  }

  /** To be called once payloads of locked jobs can be opened. */
  unlock(jobs: readonly LiveJob[]): void {
    for (const live of jobs) this.#live.unlock(live);
  }

  /** Sealed keys of the payloads of unfinished jobs. */
  payloadKeys(): Set<string> {
    const keys = this.#live.all().map(({ job }) => job.payloadKey);
    return new Set(keys.filter((key) => key !== undefined));
  }

  unsettledBytes(owner: string): number {
    return this.#live.unsettledBytes(owner);
  }

  settle(scope: Scope, timeoutMs: number): Promise<number> {
    return this.#live.settle(scope, timeoutMs);
  }

  newId(): string {
    return this.#ids.next(this.#options.now());
  }

  /**
   * Makes sure that so many more jobs of an owner may wait: at most half of what the others leave
   * free, so that something is left for whoever comes.
   *
   * @throws {SvcError} `overloaded` when too many are unfinished.
   */
  checkRoom(owner: string, jobs: number): void {
    // Those that wait for their owners may do so for ever.
    const own = this.#live.openCountOf(owner);
    const free = this.#options.maxPending - (this.#live.openCount - own);
    if (own + jobs > Math.ceil(free / 2)) {
      throw new SvcError("overloaded", "Too many jobs are waiting: try again later");
    }
  }

  /**
   * Writes jobs of one owner and whatever belongs to the same request in one commit.
   *
   * @throws {SvcError} `overloaded` when too many jobs are unfinished, `storage_unavailable` when
   * the disk refuses; then nothing was accepted.
   */
  async accept(jobs: readonly AcceptedJob[], notes: readonly Note[]): Promise<LiveJob[]> {
    const [first] = jobs;
    if (first !== undefined) this.checkRoom(first.owner, jobs.length);
    const due = this.#options.now();
    const lives = jobs.map((job) => new LiveJob(job, due));
    using _accepting = first === undefined ? undefined : this.#options.burst?.accepting();
    return await this.#add(lives, this.#store.accept(jobs, notes));
  }

  /**
   * Takes a job: counts the attempt durably, so that a job that kills its process is noticed.
   *
   * @throws {SvcError} `storage_unavailable`; the job is then as it was.
   */
  async claim(live: LiveJob): Promise<void> {
    const { state } = live;
    live.attempts++;
    live.state = "running";
    live.updatedAt = this.#options.now();
    try {
      await this.#note(live);
    } catch (error) {
      live.attempts--;
      live.state = state;
      // Refused, perhaps because it has ended.
      if (SvcError.from(error).code === "internal_error") await this.#takeEnded(live);
      throw error;
    }
  }

  /** Takes a job for ended whose ending has lost its answer; answers whether it was one. */
  async #takeEnded(live: LiveJob): Promise<boolean> {
    const found = await this.#store.ended(live.job.id).catch(() => undefined);
    if (found !== undefined) this.#markEnded(live, found);
    return found !== undefined;
  }

  #markEnded(live: LiveJob, { state, errorCode, endedAt }: EndedJob): void {
    live.errorCode = errorCode;
    this.#live.remove(live);
    live.markEnded(state, endedAt);
  }

  /**
   * Uncounts an attempt that a stop cut off, in the table only: its work may still go on and end the
   * job. Ignored when the job is being ended.
   *
   * @throws {SvcError} `storage_unavailable`; the attempt then counts.
   */
  async unclaim(live: LiveJob): Promise<void> {
    if (live.ending !== undefined) return;
    await this.#note(live, { attempts: live.attempts - 1 });
  }

  /**
   * Saves a job's sealed result.
   *
   * @throws {SvcError} `storage_unavailable`; `internal_error` when the job has ended meanwhile.
   */
  async saveStep(live: LiveJob, sealed: Uint8Array): Promise<void> {
    const step = await this.#store.stage(sealed);
    if (live.ending !== undefined) throw new SvcError("internal_error", "The job has ended");
    const before = live.step;
    live.step = step;
    try {
      await this.#store.saveStep(live.lease, step);
    } catch (error) {
      live.step = before;
      throw error;
    }
  }

  /** The sealed result of an unfinished job, or of an ended one that is its only copy. */
  async loadStep(id: string): Promise<Uint8Array | undefined> {
    const live = this.#live.get(id);
    const step = live === undefined ? await this.#ended.step(id) : live.step;
    const sealed = step === undefined ? undefined : await this.#store.read(step);
    // Another result may have taken its place while it was read.
    const isReplaced = live !== undefined && live.step !== step && sealed === undefined;
    return isReplaced ? await this.loadStep(id) : sealed;
  }

  async payload({ job }: Waiting): Promise<Uint8Array> {
    const bytes = await this.#store.read(job.payload);
    if (bytes === undefined) throw new SvcError("storage_unavailable", "The payload is missing");
    return bytes;
  }

  /** Puts a job off until `due`; ignored when the job has ended meanwhile. */
  async putOff(live: LiveJob, due: number, errorCode: JobErrorCode): Promise<void> {
    if (live.ending !== undefined) return;
    const before = live.due;
    live.errorCode = errorCode;
    live.updatedAt = this.#options.now();
    live.due = due;
    try {
      await this.#note(live);
    } catch (error) {
      live.due = before;
      throw error;
    }
  }

  /**
   * Ends a job and removes its payload in one commit. The first call decides how it ends; later ones
   * wait for it.
   *
   * @throws {SvcError} `storage_unavailable`; the job then goes on.
   */
  async end(live: LiveJob, ending: Ending): Promise<void> {
    live.ending ??= this.#end(live, ending).catch((error) => {
      live.ending = undefined;
      throw error;
    });
    await live.ending;
  }

  async #end(live: LiveJob, ending: Ending): Promise<void> {
    const record = endedRecord(live, ending, this.#options.now());
    try {
      await this.#store.end(live.lease, record);
      this.#markEnded(live, record);
    } catch (error) {
      if (!await this.#takeEnded(live)) throw error;
    }
  }

  /**
   * Makes a failed job pending again.
   *
   * @param answering makes the answer of the pending job, which is kept in the same commit.
   * @throws {SvcError} `job_not_found`, `job_not_retryable`, `overloaded`.
   */
  async retry<A>(
    id: string,
    owner: string,
    answering: (job: JobView) => Kept<A>,
  ): Promise<{ readonly answer: A; readonly live: LiveJob }> {
    const record = await this.#ended.get(id);
    const live = this.#live.get(id);
    if (live !== undefined && live.job.owner === owner) throw new SvcError("job_not_retryable");
    if (record === undefined || record.owner !== owner) throw new SvcError("job_not_found");
    const { state, recallable, step, payload, mayBeIndexed = false } = record;
    if (state !== "failed" || payload === undefined) throw new SvcError("job_not_retryable");
    this.checkRoom(owner, 1);
    const due = this.#options.now();
    const again = new LiveJob(acceptedJob(record, payload), due);
    again.step = step;
    again.mayBeIndexed = mayBeIndexed;
    again.mayBeStored = step !== undefined && !mayBeIndexed;
    again.updatedAt = due;
    if (recallable) again.markRecallable();
    again.lock = this.#lockOf(again.job);
    const kept = answering(again.view());
    const retrying = this.#store.retry(record, progressOf(again), kept.mutations);
    await this.#add([again], retrying.then((lease) => [lease]));
    return { answer: kept.answer, live: again };
  }

  /** A job of the owner; `undefined` when unknown, expired or another owner's. */
  async get(id: string, owner: string): Promise<JobView | undefined> {
    const live = this.#live.get(id);
    if (live === undefined) return await this.#ended.view(id, owner);
    return live.job.owner === owner ? live.view() : undefined;
  }

  forget(before: number): Promise<number> {
    return this.#ended.forget(before);
  }

  heldIn(scope: Scope, at: number): Promise<string[]> {
    return this.#ended.heldIn(scope, at);
  }

  heldOf(scope: Scope, memoryId: string): Promise<EndedJob[]> {
    return this.#ended.heldOf(scope, memoryId);
  }

  discard(
    scope: Scope,
    memoryIds: readonly string[],
    unnamed: ReadonlySet<string> = new Set(),
  ): Promise<void> {
    return this.#ended.discard(scope, memoryIds, unnamed);
  }

  async #add(jobs: readonly LiveJob[], written: Promise<Lease[]>): Promise<LiveJob[]> {
    const accepted = written.then((leases) => {
      for (const [i, live] of jobs.entries()) live.lease = leases[i]!;
      return true;
    }, () => false);
    for (const live of jobs) {
      live.accepted = accepted;
      this.#live.add(live);
    }
    try {
      await written;
      for (const live of jobs) live.accepted = ACCEPTED;
    } catch (error) {
      for (const live of jobs) {
        this.#live.remove(live);
        live.markEnded("failed", this.#options.now());
      }
      throw error;
    }
    return [...jobs];
  }

  async #note(live: LiveJob, change: Partial<Progress> = {}): Promise<void> {
    await this.#store.progress(live.lease, { ...progressOf(live), ...change });
  }
}
