import { type JobErrorCode, SvcError } from "../errors.ts";
import type { Scope } from "../interfaces/mod.ts";
import {
  type AcceptedJob,
  type EndedJob,
  type JobView,
  type Progress,
  viewOfEnded,
} from "./job.ts";
import type { KvWriter, Mutation } from "./kv_writer.ts";
import { LiveJob } from "./live_job.ts";
import type { Staging, Stored } from "./staging.ts";

/** Deno KV reads at most 10 keys at once. */
const MANY = 10;

/** Options of {@linkcode JobStore}. */
export interface JobStoreOptions {
  /** Unfinished jobs above which nothing more is accepted. */
  readonly maxPending: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** How a job ends. */
export interface Ending {
  /** Final state. */
  readonly state: "done" | "failed";
  /** Why it failed. */
  readonly errorCode?: JobErrorCode;
  /** Keeps the payload, so that the job can be retried. */
  readonly keepPayload?: boolean;
  /** Keeps the sealed result, where it is the only copy of a recallable memory. */
  readonly keepStep?: boolean;
}

function scopeKey(scope: Scope): string {
  return `${scope.owner}\n${scope.namespace}`;
}

/**
 * Jobs on Deno KV. `["job", id]` is the truth, `["due", time, id]` says when it may run, `["progress",
 * id]` how often it was tried, `["step", id]` holds its sealed result, `["ended", time, id]` when
 * its record may go. One process owns the table, so unfinished jobs also live in memory.
 */
export class JobStore {
  readonly #kv: Deno.Kv;
  readonly #writer: KvWriter;
  readonly #staging: Staging;
  readonly #options: JobStoreOptions;
  readonly #boot = crypto.randomUUID();
  readonly #live = new Map<string, LiveJob>();
  readonly #scopes = new Map<string, Set<LiveJob>>();
  #reserved = 0;

  /** Uses a table that is the caller's. */
  constructor(kv: Deno.Kv, writer: KvWriter, staging: Staging, options: JobStoreOptions) {
    this.#kv = kv;
    this.#writer = writer;
    this.#staging = staging;
    this.#options = options;
  }

  /** Number of unfinished jobs. */
  get size(): number {
    return this.#live.size;
  }

  /** When the oldest unfinished job was accepted; `undefined` when there is none. */
  get oldest(): number | undefined {
    // Insertion order is the order of acceptance.
    return this.#live.values().next().value?.job.acceptedAt;
  }

  /** Unfinished jobs by state. */
  counts(): { pending: number; running: number } {
    let running = 0;
    for (const live of this.#live.values()) if (live.state !== "pending") running++;
    return { pending: this.#live.size - running, running };
  }

  /** Reads every unfinished job; leases of earlier processes end with this. */
  async recover(): Promise<LiveJob[]> {
    const found: { id: string; due: number }[] = [];
    for await (const { key } of this.#kv.list({ prefix: ["due"] }, { batchSize: 500 })) {
      found.push({ due: Number(key[1]), id: String(key[2]) });
    }
    const jobs: LiveJob[] = [];
    for (let i = 0; i < found.length; i += MANY) {
      const part = found.slice(i, i + MANY);
      const records = await this.#kv.getMany<AcceptedJob[]>(part.map((f) => ["job", f.id]));
      const progress = await this.#kv.getMany<Progress[]>(part.map((f) => ["progress", f.id]));
      for (const [n, { id, due }] of part.entries()) {
        const job = records[n]?.value;
        if (!job || !("payload" in job) || "state" in job || this.#live.has(id)) continue;
        const live = new LiveJob(job, due);
        live.attempts = progress[n]?.value?.attempts ?? 0;
        live.errorCode = progress[n]?.value?.errorCode;
        if (live.attempts > 0) live.state = "running";
        jobs.push(live);
      }
    }
    jobs.sort((a, b) => a.job.acceptedAt - b.job.acceptedAt);
    for (const live of jobs) this.#add(live);
    return jobs;
  }

  /** Ids of jobs whose due time has come, oldest first. */
  async due(limit: number): Promise<string[]> {
    const ids: string[] = [];
    const selector = { start: ["due", 0], end: ["due", this.#options.now() + 1] };
    for await (const { key } of this.#kv.list(selector, { limit, batchSize: limit })) {
      ids.push(String(key[2]));
    }
    return ids;
  }

  /** Unfinished job by id. */
  live(id: string): LiveJob | undefined {
    return this.#live.get(id);
  }

  /** Unfinished jobs of a scope. */
  liveIn(scope: Scope): LiveJob[] {
    return [...this.#scopes.get(scopeKey(scope)) ?? []];
  }

  /** Unfinished jobs of an owner. */
  liveOf(owner: string): LiveJob[] {
    return [...this.#live.values()].filter((live) => live.job.owner === owner);
  }

  /**
   * Writes jobs and whatever belongs to the same request in one commit.
   *
   * @throws {SvcError} `overloaded` when too many jobs are unfinished, `storage_unavailable` when
   * the disk refuses; then nothing was accepted.
   */
  async accept(jobs: readonly AcceptedJob[], extra: readonly Mutation[]): Promise<LiveJob[]> {
    if (this.#live.size + this.#reserved + jobs.length > this.#options.maxPending) {
      throw new SvcError("overloaded", "Too many jobs are waiting: try again later");
    }
    this.#reserved += jobs.length;
    try {
      const mutations: Mutation[] = [...extra];
      for (const job of jobs) {
        const bytes = "inline" in job.payload ? job.payload.inline.length + 512 : 512;
        mutations.push(
          { key: ["job", job.id], value: job, bytes },
          { key: ["due", job.acceptedAt, job.id], value: null, bytes: 8 },
          ...this.#staging.adopt(job.payload),
        );
      }
      await this.#writer.commit(mutations, true);
    } finally {
      this.#reserved -= jobs.length;
    }
    return jobs.map((job) => this.#add(new LiveJob(job, job.acceptedAt)));
  }

  /** Takes a job: counts the attempt durably, so that a job that kills its process is noticed. */
  async claim(live: LiveJob): Promise<void> {
    live.attempts++;
    live.state = "running";
    live.updatedAt = this.#options.now();
    await this.#writer.commit([this.#progress(live)]);
  }

  /** Saves a job's sealed result. */
  async saveStep(live: LiveJob, sealed: Uint8Array): Promise<void> {
    const step = await this.#staging.put(sealed);
    const bytes = "inline" in step ? step.inline.length : 128;
    await this.#writer.commit([
      { key: ["step", live.job.id], value: step, bytes },
      ...this.#staging.adopt(step),
    ]);
  }

  /** The sealed result of an earlier attempt. */
  async loadStep(id: string): Promise<Uint8Array | undefined> {
    const { value } = await this.#kv.get<Stored>(["step", id]);
    if (value !== null) return await this.#staging.get(value);
    const ended = (await this.#kv.get<EndedJob>(["job", id])).value;
    return ended?.step === undefined ? undefined : await this.#staging.get(ended.step);
  }

  /** The sealed payload. */
  async payload(live: LiveJob): Promise<Uint8Array> {
    const bytes = await this.#staging.get(live.job.payload);
    if (bytes === undefined) throw new SvcError("storage_unavailable", "The payload is missing");
    return bytes;
  }

  /** Puts a job off until `due`. */
  async putOff(live: LiveJob, due: number, errorCode: JobErrorCode): Promise<void> {
    const before = live.due;
    live.due = due;
    live.errorCode = errorCode;
    live.updatedAt = this.#options.now();
    await this.#writer.commit([
      { key: ["due", before, live.job.id], remove: true },
      { key: ["due", due, live.job.id], value: null, bytes: 8 },
      this.#progress(live),
    ]);
  }

  /** Ends a job; its waiting payload goes in the same commit. Ending twice is harmless. */
  async end(live: LiveJob, ending: Ending): Promise<void> {
    if (this.#live.get(live.job.id) !== live) return;
    const now = this.#options.now();
    const { payload, ...spec } = live.job;
    const stepEntry = (await this.#kv.get<Stored>(["step", live.job.id])).value;
    const step = ending.keepStep ? stepEntry ?? undefined : undefined;
    const record: EndedJob = {
      ...spec,
      state: ending.state,
      attempts: live.attempts,
      endedAt: now,
      recallable: live.recallable,
      ...(live.blobId === undefined ? {} : { blobId: live.blobId }),
      ...(ending.errorCode === undefined ? {} : { errorCode: ending.errorCode }),
      ...(ending.keepPayload ? { payload } : {}),
      ...(step === undefined ? {} : { step }),
    };
    const id = live.job.id;
    await this.#writer.commit([
      { key: ["job", id], value: record, bytes: 512 },
      { key: ["ended", now, id], value: null, bytes: 8 },
      { key: ["due", live.due, id], remove: true },
      { key: ["progress", id], remove: true },
      { key: ["step", id], remove: true },
      ...(ending.keepPayload ? [] : this.#staging.discard(payload)),
      ...(step === undefined ? this.#staging.discard(stepEntry ?? undefined) : []),
    ]);
    if (ending.errorCode !== undefined) live.errorCode = ending.errorCode;
    this.#remove(live);
    live.markEnded(ending.state, now);
  }

  /**
   * Makes a failed job pending again.
   *
   * @param extra what belongs to the same commit, made from the pending job.
   * @throws {SvcError} `job_not_found`, `job_not_retryable`.
   */
  async retry(
    id: string,
    owner: string,
    extra: (job: JobView) => readonly Mutation[],
  ): Promise<LiveJob> {
    const live = this.#live.get(id);
    if (live !== undefined && live.job.owner === owner) throw new SvcError("job_not_retryable");
    const record = live === undefined ? (await this.#kv.get<EndedJob>(["job", id])).value : null;
    if (record === null || record.owner !== owner) throw new SvcError("job_not_found");
    if (record.state !== "failed" || record.payload === undefined) {
      throw new SvcError("job_not_retryable");
    }
    const { state: _, attempts: __, endedAt, recallable: ___, errorCode: ____, step, ...rest } =
      record;
    const job: AcceptedJob = { ...rest, payload: record.payload };
    const due = this.#options.now();
    const again = new LiveJob(job, due);
    const mutations: Mutation[] = [
      ...extra(again.view()),
      { key: ["job", id], value: job, bytes: 1024 },
      { key: ["due", due, id], value: null, bytes: 8 },
      { key: ["ended", endedAt, id], remove: true },
    ];
    if (step !== undefined) mutations.push({ key: ["step", id], value: step, bytes: 1024 });
    await this.#writer.commit(mutations, true);
    return this.#add(again);
  }

  /** A job of the owner; `undefined` when unknown, expired or another owner's. */
  async get(id: string, owner: string): Promise<JobView | undefined> {
    const live = this.#live.get(id);
    if (live !== undefined) return live.job.owner === owner ? live.view() : undefined;
    const { value } = await this.#kv.get<EndedJob>(["job", id]);
    return value !== null && value.owner === owner && "state" in value
      ? viewOfEnded(value)
      : undefined;
  }

  /** Drops records of jobs that ended before `before`; answers how many. */
  async forget(before: number): Promise<number> {
    let count = 0;
    const selector = { start: ["ended", 0], end: ["ended", before] };
    for await (const { key } of this.#kv.list(selector, { batchSize: 100 })) {
      const id = String(key[2]);
      const record = (await this.#kv.get<EndedJob>(["job", id])).value;
      const mutations: Mutation[] = [{ key, remove: true }];
      // The only copy of a recallable memory outlives its retention.
      if (record !== null && record.step === undefined) {
        mutations.push(
          { key: ["job", id], remove: true },
          ...this.#staging.discard(record.payload),
        );
      }
      await this.#writer.commit(mutations);
      count++;
    }
    return count;
  }

  /**
   * Waits until the scope's jobs that are unfinished now are recallable or failed.
   *
   * @returns how many are left after `timeoutMs`.
   */
  async settle(scope: Scope, timeoutMs: number): Promise<number> {
    const waiting = this.liveIn(scope).filter((live) => !live.recallable);
    if (waiting.length === 0) return 0;
    if (timeoutMs > 0) {
      const timeout = Promise.withResolvers<void>();
      const timer = setTimeout(timeout.resolve, timeoutMs);
      await Promise.race([Promise.all(waiting.map((live) => live.settled)), timeout.promise]);
      clearTimeout(timer);
    }
    return waiting.filter((live) => !live.recallable && live.state !== "failed").length;
  }

  #progress(live: LiveJob): Mutation {
    const value: Progress = {
      boot: this.#boot,
      attempts: live.attempts,
      due: live.due,
      ...(live.errorCode === undefined ? {} : { errorCode: live.errorCode }),
    };
    return { key: ["progress", live.job.id], value, bytes: 128 };
  }

  #add(live: LiveJob): LiveJob {
    this.#live.set(live.job.id, live);
    const key = scopeKey(live.job);
    const scope = this.#scopes.get(key);
    if (scope === undefined) this.#scopes.set(key, new Set([live]));
    else scope.add(live);
    return live;
  }

  #remove(live: LiveJob): void {
    this.#live.delete(live.job.id);
    const key = scopeKey(live.job);
    const scope = this.#scopes.get(key);
    scope?.delete(live);
    if (scope?.size === 0) this.#scopes.delete(key);
  }
}
