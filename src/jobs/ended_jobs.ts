import type { JobErrorCode } from "../errors.ts";
import type { EndedJob, JobStore, Scope, Stored } from "../interfaces/mod.ts";
import type { Ending, JobView, LiveJob, LiveJobs } from "./job.ts";

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
    const { payload: _, step: __, mayBeIndexed: ___, ...rest } = record;
    const { endedAt: updatedAt, blobId, errorCode, ...job } = rest;
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
        // The only copy of a recallable memory outlives its retention, and so does what is needed to
        // find a deleted one's blob.
        const isNeeded = record.recallable || record.mayBeIndexed || record.errorCode === "deleted";
        if (isNeeded && record.step !== undefined) {
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

  /** Drops what ended jobs of deleted memories still hold; they cannot be retried any more. */
  async discard(scope: Scope, memoryIds: readonly string[]): Promise<void> {
    for (let i = 0; i < memoryIds.length; i += TOGETHER) {
      const part = memoryIds.slice(i, i + TOGETHER);
      await Promise.all(part.map((memoryId) => this.#discardOf(scope, memoryId)));
    }
  }

  async #discardOf(scope: Scope, memoryId: string): Promise<void> {
    const held = await this.#store.held(scope, memoryId);
    // Records of before are found by the memory's id alone.
    const own = held.some(({ id }) => id === memoryId)
      ? undefined
      : await this.#store.ended(memoryId);
    for (const record of held) await this.#discard(record, true);
    if (own?.owner === scope.owner) await this.#discard(own, false);
  }

  async #discard(record: EndedJob, isHeld: boolean): Promise<void> {
    if (this.#live.get(record.id) !== undefined) return;
    const { payload, step, mayBeIndexed: _, ...rest } = record;
    const holdsBytes = payload !== undefined || step !== undefined;
    if (!holdsBytes && !isHeld) return;
    if (!holdsBytes) await this.#store.replace(record, true);
    else if (rest.expired) await this.#store.forget(record);
    else await this.#store.replace({ ...rest, recallable: false }, true);
  }
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
  const { payload, ...spec } = live.job;
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
    ...(ending.keepPayload ? { payload } : {}),
    ...(step === undefined ? {} : { step, ...(mayBeIndexed ? { mayBeIndexed } : {}) }),
  };
}
