import { currentSpan, type TraceParent } from "../tracing.ts";
import type { JobErrorCode, SvcError } from "../errors.ts";
import type { AcceptedJob, HeldJob, JobSpec, Lease, Progress, Stored } from "../interfaces/mod.ts";

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
  readonly job: Pick<AcceptedJob, "id" | "source" | "payload" | "payloadKey">;
  /** Why it cannot be opened now. */
  readonly lock?: SvcError | undefined;
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
  /** Why its payload cannot be opened before somebody comes with a credential. */
  lock: SvcError | undefined;
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

  /** Whether it rests until somebody comes with a credential. */
  get isLocked(): boolean {
    return this.lock !== undefined;
  }

  /** Whether the memory is recallable or never will be by this run. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  get ended(): Promise<void> {
    this.#ended ??= Promise.withResolvers();
    if (this.isOver) this.#ended.resolve();
    return this.#ended.promise;
  }

  /** Whether it is over, here or elsewhere. */
  get isOver(): boolean {
    return this.isLetGo || this.#hasEnded;
  }

  /** Another relayer has it from now on: nobody waits for it here. */
  letGo(): void {
    this.isLetGo = true;
    this.#ended?.resolve();
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

/** How far a job came, to be noted. */
export function progressOf({ attempts, recallable, due, errorCode, model }: LiveJob): Progress {
  return {
    attempts,
    recallable,
    due,
    ...(errorCode === undefined ? {} : { errorCode }),
    ...(model === undefined ? {} : { model }),
  };
}
