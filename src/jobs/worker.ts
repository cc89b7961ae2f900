import { type JobErrorCode, SvcError } from "../errors.ts";
import type { DispatchConfig } from "../config.ts";
import type { Logger } from "../log.ts";
import type { LiveJob } from "./live_job.ts";
import type { JobStore } from "./store.ts";

/** First and longest pause between two tries, milliseconds. */
const BACKOFF_MS = { first: 2_000, longest: 600_000 };
/** Jobs that may upload at once, beside those being embedded and indexed. */
const UPLOADS = 64;
const SWEEP_MS = 1_000;
const DUE_BATCH = 500;

/** Why a step failed, for the job's record. */
export class StepError extends Error {
  /** Job error code. */
  readonly code: JobErrorCode;
  /** Whether another try may succeed. */
  readonly retryable: boolean;
  /** Whole seconds to wait at least. */
  readonly retryAfter: number | undefined;

  /** Takes over what an error says of itself; unknown errors may be retried. */
  constructor(code: JobErrorCode, cause: unknown) {
    super(code, { cause });
    const known = cause instanceof SvcError ? cause : undefined;
    this.code = code;
    this.retryable = known?.retryable ?? true;
    this.retryAfter = known?.retryAfter;
  }
}

/** What a job's work is given. */
export interface Attempt {
  /** The job. */
  readonly live: LiveJob;
  /** Aborted when the relayer stops before the work is done. */
  readonly signal: AbortSignal;
  /** To be called when only the slow upload is left: the next job may start. */
  release(): void;
}

/** Options of {@linkcode JobWorker}. */
export interface JobWorkerOptions {
  /** Works on a job until it has ended; throws {@linkcode StepError}. */
  readonly process: (attempt: Attempt) => Promise<void>;
  /** Jobs embedded and indexed at once. */
  readonly concurrency: number;
  /** Tries of one job, the first included. */
  readonly maxAttempts: number;
  /** How jobs are started. */
  readonly dispatch: DispatchConfig;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Where failures are noted. */
  readonly logger: Logger;
  /** Sends a queue message after a delay, where the queue is used. */
  readonly wakeAfter?: (delayMs: number) => Promise<void>;
}

/** Pause before the next try, milliseconds: exponential, with half of it random. */
export function backoff(attempts: number, random: number, retryAfterSeconds = 0): number {
  const full = Math.min(BACKOFF_MS.longest, BACKOFF_MS.first * 2 ** (attempts - 1));
  return Math.max(full * (0.5 + random / 2), retryAfterSeconds * 1000);
}

/** Starts jobs, at most so many at once, owners in turn. */
export class JobWorker {
  readonly #store: JobStore;
  readonly #options: JobWorkerOptions;
  /** Waiting jobs by owner; the owner served last stands last. */
  readonly #ready = new Map<string, LiveJob[]>();
  readonly #known = new Set<LiveJob>();
  readonly #inFlight = new Set<Promise<void>>();
  readonly #abort = new AbortController();
  #slots = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerAt = Infinity;
  #sweeper: ReturnType<typeof setInterval> | undefined;
  #sweeping = false;
  /** Whether the last sweep left due jobs behind. */
  #more = false;
  #stopped = true;

  /** Does nothing until started. */
  constructor(store: JobStore, options: JobWorkerOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** Starts working; jobs given before are taken up. */
  start(): void {
    this.#stopped = false;
    if (this.#options.dispatch.sweeper) {
      this.#sweeper = setInterval(() => void this.sweep(), SWEEP_MS);
    }
    this.#pump();
  }

  /** Whether a job given now would start at once. */
  get free(): boolean {
    return !this.#stopped && this.#slots < this.#options.concurrency && this.#ready.size === 0;
  }

  /** Accepted jobs, to be started in this process. */
  notify(jobs: readonly LiveJob[]): void {
    if (!this.#options.dispatch.process) return;
    for (const live of jobs) this.#enqueue(live);
    this.#pump();
  }

  /** Starts every job whose time has come, as the table says. */
  async sweep(): Promise<void> {
    if (this.#stopped || this.#sweeping || this.#store.size === 0) return;
    this.#sweeping = true;
    try {
      const due = await this.#store.due(DUE_BATCH);
      this.#more = due.length === DUE_BATCH;
      for (const id of due) {
        const live = this.#store.live(id);
        if (live !== undefined && live.due <= this.#options.now()) this.#enqueue(live);
      }
      this.#pump();
    } catch (error) {
      this.#options.logger.warn("sweep_failed", { reason: SvcError.from(error).code });
    } finally {
      this.#sweeping = false;
    }
  }

  /** Resolves when no job is running and none is ready. */
  async idle(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.allSettled([...this.#inFlight]);
  }

  /** Takes no new job and waits for the running ones; what takes longer is put down. */
  async stop(graceMs: number): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#sweeper);
    clearTimeout(this.#timer);
    const timer = setTimeout(() => this.#abort.abort(new SvcError("shutting_down")), graceMs);
    await this.idle();
    clearTimeout(timer);
  }

  #enqueue(live: LiveJob): void {
    if (this.#known.has(live)) return;
    this.#known.add(live);
    const queue = this.#ready.get(live.job.owner);
    if (queue === undefined) this.#ready.set(live.job.owner, [live]);
    else queue.push(live);
  }

  #next(): LiveJob | undefined {
    for (const [owner, queue] of this.#ready) {
      const live = queue.shift();
      this.#ready.delete(owner);
      if (queue.length > 0) this.#ready.set(owner, queue);
      if (live !== undefined) return live;
    }
    return undefined;
  }

  #pump(): void {
    while (
      !this.#stopped && this.#slots < this.#options.concurrency &&
      this.#inFlight.size < this.#options.concurrency + UPLOADS
    ) {
      const live = this.#next();
      if (live === undefined) return;
      const run = this.#run(live).finally(() => {
        this.#inFlight.delete(run);
        this.#known.delete(live);
        this.#pump();
        if (this.#more && this.#ready.size === 0) void this.sweep();
      });
      this.#inFlight.add(run);
    }
  }

  async #run(live: LiveJob): Promise<void> {
    let held = true;
    this.#slots++;
    const release = () => {
      if (!held) return;
      held = false;
      this.#slots--;
      this.#pump();
    };
    try {
      await this.#store.claim(live);
      await this.#options.process({ live, signal: this.#abort.signal, release });
    } catch (error) {
      await this.#failed(live, error);
    } finally {
      release();
    }
  }

  async #failed(live: LiveJob, thrown: unknown): Promise<void> {
    if (this.#abort.signal.aborted) return; // The next start takes it up again.
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
        await this.#store.end(live, {
          state: "failed",
          errorCode: error.code,
          keepPayload: true,
          keepStep: live.recallable,
        });
      } else {
        const pause = backoff(live.attempts, random(), error.retryAfter);
        await this.#store.putOff(live, Math.ceil(now() + pause), error.code);
        this.#wakeAt(live);
        await this.#options.wakeAfter?.(pause);
      }
    } catch (storage) {
      // The table still says that the job is due: the sweeper tries again.
      logger.error("job_state_not_saved", {
        job_id: live.job.id,
        reason: SvcError.from(storage).code,
      });
    }
  }

  #wakeAt(live: LiveJob): void {
    if (!this.#options.dispatch.process || live.due >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = live.due;
    this.#timer = setTimeout(() => {
      this.#timerAt = Infinity;
      void this.sweep();
    }, Math.max(0, live.due - this.#options.now()));
  }
}
