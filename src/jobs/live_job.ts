import type { JobErrorCode } from "../errors.ts";
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
    return {
      id: this.job.id,
      state: this.state,
      scope: { owner: this.job.owner, namespace: this.job.namespace },
      memoryId: this.job.memoryId,
      version: this.job.version,
      recallable: this.recallable,
      attempts: this.attempts,
      createdAt: this.job.acceptedAt,
      updatedAt: this.updatedAt,
      ...(this.blobId === undefined ? {} : { blobId: this.blobId }),
      ...(this.errorCode === undefined ? {} : { errorCode: this.errorCode }),
    };
  }
}
