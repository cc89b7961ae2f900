import { abortable, within } from "../deadline.ts";
import { SvcError } from "../errors.ts";
import type { DispatchConfig } from "../interfaces/config.ts";
import type { Logger } from "../log.ts";
import { traced } from "../tracing.ts";
import { givenUp } from "./ended_jobs.ts";
import type { Scope } from "../interfaces/mod.ts";
import type { LiveJob } from "./job.ts";
import { BurstPace, JobQueue } from "./job_queue.ts";
import type { Jobs } from "./jobs.ts";
import { backoff, BACKOFF_MS, RETRY_AFTER_MS, StepError, TableOutage } from "./retries.ts";

/**
 * Jobs that may upload at once, beside those being embedded and indexed, and the bytes of payload
 * they may hold in memory. They are many because a store may wait for more blobs to pack together.
 */
const UPLOADS = { jobs: 2_000, bytes: 64 * 1024 * 1024 };
const SWEEP_MS = 1_000;
/** A stop waits this long for aborted work to end, milliseconds. */
const PUT_DOWN_MS = 1_000;
/** Fewest tries after which an unended job is suspected of crashing the process. */
const SUSPICIOUS_TRIES = 20;
/** When the clock went back by more than this, due times noted before mean nothing. */
const CLOCK_STEP_MS = 2_000;

/** What a job's work is given. */
export interface Attempt {
  readonly live: LiveJob;
  /** Aborted when the relayer stops before the work is done. */
  readonly signal: AbortSignal;
  /** To be called when only the slow upload is left: the next job may start. */
  release(): void;
}

export interface JobWorkerOptions {
  /** Works on a job until it has ended; throws {@linkcode StepError}. */
  readonly process: (attempt: Attempt) => Promise<void>;
  /** Jobs embedded and indexed at once. */
  readonly concurrency: number;
  /** Tries of one job, the first included. */
  readonly maxAttempts: number;
  readonly dispatch: DispatchConfig;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly logger: Logger;
  /** Keeps an owner here while a job runs; `undefined` where another relayer has the owner. */
  readonly hold?: (owner: string) => Disposable | undefined;
  /** Whether accepts come in a burst: then they go first, and jobs follow slowly. */
  readonly busy?: () => boolean;
  /** Sends a queue message after a delay, where the queue is used. */
  readonly wakeAfter?: (delayMs: number) => Promise<void>;
}

/** Starts jobs, at most so many at once, owners in turn. */
export class JobWorker {
  readonly #store: Jobs;
  readonly #options: JobWorkerOptions;
  readonly #queue = new JobQueue();
  readonly #inFlight = new Set<Promise<void>>();
  /** Everything that runs, also after a stop aborted it. */
  readonly #work = new Set<Promise<void>>();
  readonly #abort = new AbortController();
  /** Running jobs by memory. */
  readonly #working = new Map<string, number>();
  #slots = 0;
  #bytesInFlight = 0;
  readonly #timers = new Timers();
  #sweeper: ReturnType<typeof setInterval> | undefined;
  #sweptAt = -Infinity;
  readonly #pace: BurstPace;
  readonly #outage: TableOutage;
  #stopped = true;

  constructor(store: Jobs, options: JobWorkerOptions) {
    this.#store = store;
    this.#options = options;
    this.#pace = new BurstPace(options.busy ?? (() => false), () => this.#pump());
    this.#outage = new TableOutage(() => this.#pump(), options.logger);
  }

  /** Starts working; jobs given before are taken up. */
  start(): void {
    this.#stopped = false;
    if (this.#options.dispatch.sweeper) {
      this.#sweeper = setInterval(() => this.sweep(), SWEEP_MS);
    }
    this.#pump();
  }

  /** Whether a job given now would start at once. */
  get free(): boolean {
    return !this.#stopped && this.#slots < this.#limit && this.#queue.size === 0;
  }

  get #limit(): number {
    return this.#outage.limit(this.#options.concurrency);
  }

  /** Aborted when a stop gives up on running jobs. */
  get stopped(): AbortSignal {
    return this.#abort.signal;
  }

  /**
   * Whether more jobs of the memory than so many are running: such a job notices a deletion by
   * itself.
   */
  isWorkingOn(owner: string, memoryId: string, besides = 0): boolean {
    return (this.#working.get(`${owner} ${memoryId}`) ?? 0) > besides;
  }

  /** Accepted jobs, to be started in this process. */
  notify(jobs: readonly LiveJob[]): void {
    if (!this.#options.dispatch.process) return;
    for (const live of jobs) this.#enqueue(live);
    this.#pump();
  }

  /**
   * Takes up the jobs an earlier process left, each when it is due. A job with all tries used and no
   * end was running when the process ended, and may have crashed it: it is put off, so that no job
   * can keep the relayer from serving.
   */
  resume(jobs: readonly LiveJob[]): void {
    const { maxAttempts, logger } = this.#options;
    const now = this.#options.now();
    for (const live of jobs) {
      if (live.due <= now && live.attempts >= Math.max(maxAttempts, SUSPICIOUS_TRIES)) {
        logger.warn("job_put_off", { job_id: live.job.id, attempts: live.attempts });
        const due = now + BACKOFF_MS.longest;
        this.#store.putOff(live, due, live.errorCode ?? "internal_error").catch(() => {});
        void this.#options.wakeAfter?.(BACKOFF_MS.longest).catch(() => {});
      }
      // The clock may have been set back since.
      if (live.due > now) this.#startAfter(live, Math.min(live.due - now, RETRY_AFTER_MS));
    }
    this.sweep();
  }

  /** Starts a scope's waiting jobs before all others, because a caller waits for them. */
  expedite(scope: Scope): void {
    this.#queue.expedite(scope);
    this.#pump();
  }

  /** Starts every job whose time has come. */
  sweep(): void {
    if (this.#stopped) return;
    const now = this.#options.now();
    const stepped = now < this.#sweptAt - CLOCK_STEP_MS;
    this.#sweptAt = now;
    for (const live of this.#store.rest.atRest) {
      if (live.due <= now || stepped) this.#enqueue(live);
    }
    this.#outage.letOneTry();
    this.#pump();
  }

  /** Resolves when no job is running and none is ready. */
  async idle(): Promise<void> {
    do {
      // Somebody waits for all of them, so that none is held back by a burst.
      if (!this.#stopped) {
        this.#queue.expediteAll();
        this.#pump();
      }
      await Promise.allSettled([...this.#inFlight]);
    } while (
      this.#inFlight.size > 0 || (this.#queue.size > 0 && !this.#stopped && this.#limit > 0)
    );
  }

  /**
   * Takes no new job and waits for the running ones; those that take longer are aborted.
   *
   * @param works Whether it works on in that time: what it leaves would wait for its owners.
   */
  async stop(graceMs: number, works = false): Promise<void> {
    const end = performance.now() + graceMs;
    if (works && graceMs > 0) await within(graceMs, this.idle());
    this.#stopped = true;
    clearInterval(this.#sweeper);
    this.#pace.stop();
    this.#outage.stop();
    this.#timers.clear();
    const putDown = () => this.#abort.abort(new SvcError("shutting_down"));
    const timer = setTimeout(putDown, Math.max(0, end - performance.now()));
    await this.idle();
    clearTimeout(timer);
    putDown();
  }

  /** Waits for work that a stop aborted, at most a second: it may still use its backends. */
  async putDown(): Promise<void> {
    if (this.#work.size === 0) return;
    await within(PUT_DOWN_MS, Promise.allSettled([...this.#work]));
  }

  #enqueue(live: LiveJob): void {
    // One that is locked rests until it is unlocked.
    if (!live.isLocked && this.#store.rest.takeUp(live)) this.#queue.add(live);
  }

  #next(): LiveJob | undefined {
    const urgent = this.#queue.nextUrgent();
    if (urgent !== undefined) return urgent;
    if (this.#queue.size === 0 || this.#pace.holdsBack(this.#slots === 0)) return undefined;
    return this.#queue.next();
  }

  #pump(): void {
    while (
      !this.#stopped && this.#slots < this.#limit &&
      this.#inFlight.size < this.#options.concurrency + UPLOADS.jobs &&
      this.#bytesInFlight < UPLOADS.bytes
    ) {
      const live = this.#next();
      if (live === undefined) return;
      this.#bytesInFlight += live.job.bytes;
      const run = this.#run(live).finally(() => {
        this.#bytesInFlight -= live.job.bytes;
        this.#inFlight.delete(run);
        this.#store.rest.putDown(live);
        this.#pump();
      });
      this.#inFlight.add(run);
    }
  }

  async #run(live: LiveJob): Promise<void> {
    let held = true;
    let working = false;
    this.#slots++;
    const release = () => {
      if (!held) return;
      held = false;
      this.#slots--;
      this.#pump();
    };
    try {
      if (!await live.accepted) return;
      // It may have been cancelled, or let go, while it waited for its turn.
      if (live.ending !== undefined || live.isLetGo) return;
      // Without its owner it rests: the next sweep, or whoever gets the owner, takes it up.
      using hold = this.#options.hold?.(live.job.owner);
      if (hold === undefined && this.#options.hold !== undefined) return;
      if (!await this.#claim(live)) return;
      this.#count(live, 1);
      working = true;
      this.#abort.signal.throwIfAborted();
      await this.#untilStopped(this.#attempt({ live, signal: this.#abort.signal, release }));
    } catch (error) {
      await this.#failed(live, error);
    } finally {
      if (working) this.#count(live, -1);
      release();
    }
  }

  #count({ job: { owner, memoryId } }: LiveJob, change: 1 | -1): void {
    const key = `${owner} ${memoryId}`;
    const running = (this.#working.get(key) ?? 0) + change;
    if (running === 0) this.#working.delete(key);
    else this.#working.set(key, running);
  }

  /** One attempt, part of the request that brought the job and of no other. */
  #attempt(attempt: Attempt): Promise<void> {
    const { origin, job, attempts } = attempt.live;
    const attributes = { "svc.job_id": job.id, "svc.job_attempt": attempts };
    const options = { parent: origin ?? "none", attributes } as const;
    return traced("job", options, () => this.#options.process(attempt));
  }

  /** Takes a job; answers whether the table took note. */
  async #claim(live: LiveJob): Promise<boolean> {
    try {
      await this.#store.claim(live);
    } catch (cause) {
      this.#holdBack(live, cause);
      return false;
    }
    this.#outage.over();
    return true;
  }

  /** Tries a job again once the table takes writes. */
  #holdBack(live: LiveJob, cause: unknown): void {
    // The next start takes it up again, or whoever took it over.
    if (this.#stopped || live.isOver) return;
    this.#outage.refused(SvcError.from(cause).code);
    this.#startAfter(live, BACKOFF_MS.first);
  }

  /** Waits for work, but not past a stop: a backend may ignore its signal. */
  async #untilStopped(work: Promise<void>): Promise<void> {
    const tracked = work.catch(() => {}).finally(() => this.#work.delete(tracked));
    this.#work.add(tracked);
    await abortable(work, this.#abort.signal);
  }

  async #failed(live: LiveJob, thrown: unknown): Promise<void> {
    // Whoever took it over tries it again.
    if (live.isLetGo) return;
    // The next start takes it up again.
    if (this.#abort.signal.aborted) return await this.#store.unclaim(live).catch(() => {});
    const error = thrown instanceof StepError ? thrown : new StepError("internal_error", thrown);
    const cause = error.cause instanceof Error ? error.cause.name : "Error";
    const { logger, now, random, maxAttempts } = this.#options;
    logger.warn("job_attempt_failed", {
      job_id: live.job.id,
      attempts: live.attempts,
      code: error.code,
      reason: cause,
    });
    try {
      if (live.cancelled) {
        await this.#store.end(live, { state: "failed", errorCode: "deleted" });
      } else if (!error.retryable || live.attempts >= maxAttempts) {
        await this.#store.end(live, givenUp(live, error.code));
      } else {
        const pause = backoff(live.attempts, random(), error.retryAfter);
        await this.#store.putOff(live, Math.ceil(now() + pause), error.code);
        this.#startAfter(live, pause);
        // Without the message its timer or the next sweep starts it.
        await this.#options.wakeAfter?.(pause).catch(() => {});
      }
    } catch (storage) {
      // A try that cannot be written down does not count.
      live.attempts--;
      this.#holdBack(live, storage);
    }
  }

  /** Starts a job after a pause, counted in elapsed time: setting the clock changes nothing. */
  #startAfter(live: LiveJob, pause: number): void {
    if (!this.#options.dispatch.process || this.#stopped) return;
    const { due } = live;
    this.#timers.after(pause, () => {
      // The sweeper may have been faster, and the job put off again.
      if (live.due !== due) return;
      this.#enqueue(live);
      this.#pump();
    });
  }
}

/** Timers that are cleared together. */
class Timers {
  readonly #ids = new Set<ReturnType<typeof setTimeout>>();

  /** Calls back after so many milliseconds of elapsed time. */
  after(ms: number, call: () => void): void {
    const id = setTimeout(() => {
      this.#ids.delete(id);
      call();
    }, ms);
    this.#ids.add(id);
  }

  clear(): void {
    for (const id of this.#ids) clearTimeout(id);
    this.#ids.clear();
  }
}
