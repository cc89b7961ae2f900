import type { JobErrorCode } from "../errors.ts";
import type { EndedJob, JobStore, Scope, Stored } from "../interfaces/mod.ts";
import type { Ending, JobView, LiveJob } from "./job.ts";
import type { LiveJobs } from "./live_jobs.ts";

/** Memories looked up at once. */
const TOGETHER = 100;
/** Records looked at together whose retention is over. */
const PAGE = 100;

/** Records of jobs that are done or failed, until their retention is over. */
export class EndedJobs {
  readonly #store: JobStore;
  readonly #live: LiveJobs;

  /** Uses a store that is the caller's; `live` are the jobs that are not ended. */
  constructor(store: JobStore, live: LiveJobs) {
    this.#store = store;
    this.#live = live;
  }

  /** The record of an ended job; `undefined` when unknown, unfinished or past its retention. */
  async get(id: string): Promise<EndedJob | undefined> {
    const record = await this.#store.ended(id);
    return record?.expired ? undefined : record;
  }

  /** A job of the owner for callers; `undefined` when there is no such record. */
  async view(id: string, owner: string): Promise<JobView | undefined> {
    const record = await this.get(id);
    if (record?.owner !== owner) return undefined;
    const { payload: _, step: __, mayBeIndexed: ___, mayBeStored: ____, ...rest } = record;
    const { payloadKey: _____, endedAt: updatedAt, blobId, errorCode, ...job } = rest;
    return { ...job, updatedAt, blobId, errorCode };
  }

  /** Where a failed job's sealed result is, when that is a memory's only copy. */
  async step(id: string): Promise<Stored | undefined> {
    return (await this.#store.ended(id))?.step;
  }

  /** Drops records of jobs that ended before `before`; answers how many. */
  async forget(before: number): Promise<number> {
    let count = 0;
    for (;;) {
      const records = await this.#store.endedBefore(before, PAGE);
      for (const record of records) {
        const { payload: _, ...rest } = record;
        const isCopied = record.recallable || record.mayBeIndexed;
        // The only copy of a recallable memory outlives its retention, and so does what leads to the
        // blob of a deleted one.
        if ((isCopied && record.step !== undefined) || record.mayBeStored) {
          await this.#store.replace({ ...rest, expired: true });
        } else await this.#store.forget(record);
      }
      count += records.length;
      if (records.length < PAGE) return count;
    }
  }

  /** Memories of a scope of which jobs accepted until `at` are held although they ended. */
  async heldIn(scope: Scope, at: number): Promise<string[]> {
    const records = await this.#store.held(scope);
    const until = records.filter(({ acceptedAt }) => acceptedAt <= at);
    return [...new Set(until.map(({ memoryId }) => memoryId))];
  }

  /** Ended jobs of a memory that are held. */
  heldOf(scope: Scope, memoryId: string): Promise<EndedJob[]> {
    return this.#store.held(scope, memoryId);
  }

  /**
   * Drops what ended jobs of deleted memories still hold; they cannot be retried any more. Of `unnamed`
   * ones they still say that a blob may have been stored.
   */
  async discard(
    scope: Scope,
    memoryIds: readonly string[],
    unnamed: ReadonlySet<string>,
  ): Promise<void> {
    for (let i = 0; i < memoryIds.length; i += TOGETHER) {
      const part = memoryIds.slice(i, i + TOGETHER);
      await Promise.all(part.map((id) => this.#discardOf(scope, id, unnamed.has(id))));
    }
  }

  async #discardOf(scope: Scope, memoryId: string, isUnnamed: boolean): Promise<void> {
    const held = await this.#store.held(scope, memoryId);
    // Records of before are found by the memory's id alone.
    const own = held.some(({ id }) => id === memoryId)
      ? undefined
      : await this.#store.ended(memoryId);
    for (const record of held) await this.#discard(record, true, isUnnamed);
    if (own?.owner === scope.owner) await this.#discard(own, false);
  }

  async #discard(record: EndedJob, isHeld: boolean, isUnnamed = false): Promise<void> {
    if (this.#live.get(record.id) !== undefined) return;
    const { payload, step, mayBeIndexed: _, mayBeStored: isNoted, ...rest } = record;
    const holdsMore = payload !== undefined || step !== undefined || isNoted;
    if (!holdsMore && !isHeld) return;
    if (isUnnamed && mayBeStored(record)) {
      await this.#store.replace({ ...rest, recallable: false, mayBeStored: true });
    } else if (!holdsMore) await this.#store.replace(record, true);
    else if (rest.expired) await this.#store.forget(record);
    else await this.#store.replace({ ...rest, recallable: false }, true);
  }
}

/** Whether a job may have stored a blob whose id nobody knows. */
export function isBlobUnknown({ mayBeStored, blobId, step }: LiveJob): boolean {
  return mayBeStored && blobId === undefined && step !== undefined;
}

/** Whether an ended job may have stored a blob whose id nobody knows. */
export function mayBeStored({ step, mayBeIndexed, mayBeStored, blobId }: EndedJob): boolean {
  return blobId === undefined && (mayBeStored || step !== undefined && !mayBeIndexed);
}

/** How a job ends that is not tried again by itself: it keeps what a retry needs. */
export function givenUp(live: LiveJob, errorCode: JobErrorCode): Ending {
  return {
    state: "failed",
    errorCode,
    keepPayload: true,
    keepStep: live.recallable || live.mayBeIndexed || live.mayBeStored,
  };
}

export function endedRecord(live: LiveJob, ending: Ending, endedAt: number): EndedJob {
  const { payload, payloadKey, ...spec } = live.job;
  const step = ending.keepStep ? live.step : undefined;
  const mayBeIndexed = live.mayBeIndexed && !live.mayBeStored;
  return {
    ...spec,
    state: ending.state,
    attempts: live.attempts,
    endedAt,
    recallable: live.recallable,
    ...(live.blobId === undefined ? {} : { blobId: live.blobId }),
    ...(ending.errorCode === undefined ? {} : { errorCode: ending.errorCode }),
    ...(ending.keepPayload ? { payload, ...(payloadKey && { payloadKey }) } : {}),
    ...(isBlobUnknown(live) && ending.errorCode === "deleted" ? { mayBeStored: true } : {}),
    ...(step === undefined ? {} : { step, ...(mayBeIndexed ? { mayBeIndexed } : {}) }),
  };
}
