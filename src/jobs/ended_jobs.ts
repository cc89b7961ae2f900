import type { JobErrorCode } from "../errors.ts";
import type { Scope } from "../interfaces/mod.ts";
import type { EndedJob, Ending, JobView, LiveJob, LiveJobs } from "./job.ts";
import { type KvWriter, type Mutation, type Staging, type Stored, tableRead } from "./staging.ts";

/** Memories looked up at once. */
const TOGETHER = 100;

/** Records of jobs that are done or failed, until their retention is over. */
export class EndedJobs {
  readonly #kv: Deno.Kv;
  readonly #writer: KvWriter;
  readonly #staging: Staging;
  readonly #live: LiveJobs;

  /** Uses a table that is the caller's; `live` are the jobs that are not ended. */
  constructor(kv: Deno.Kv, writer: KvWriter, staging: Staging, live: LiveJobs) {
    this.#kv = kv;
    this.#writer = writer;
    this.#staging = staging;
    this.#live = live;
  }

  /** The record of an ended job; `undefined` when unknown, unfinished or past its retention. */
  async get(id: string): Promise<EndedJob | undefined> {
    const record = await this.#read(id);
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
    return (await this.#read(id))?.step;
  }

  /** Drops records of jobs that ended before `before`; answers how many. */
  async forget(before: number): Promise<number> {
    let count = 0;
    const selector = { start: ["ended"], end: ["ended", before] };
    for await (const { key } of this.#kv.list(selector, { batchSize: 100 })) {
      const id = String(key[2]);
      const record = await this.#read(id);
      const mutations: Mutation[] = [{ key, remove: true }];
      // A retried job has no record, or will have none with the next commit.
      const current = record?.endedAt === key[1] && this.#live.get(id) === undefined;
      if (record !== undefined && current) {
        const { payload, ...rest } = record;
        mutations.push(...this.#staging.discard(payload));
        const isCopied = record.recallable || record.mayBeIndexed;
        if (isCopied && record.step !== undefined) {
          // The only copy of a recallable memory outlives its retention.
          mutations.push({ key: ["job", id], value: { ...rest, expired: true } });
        } else {
          mutations.push({ key: ["job", id], remove: true }, ...this.#staging.discard(record.step));
          mutations.push(...heldNoMore(record));
        }
      }
      await this.#writer.commit(mutations);
      count++;
    }
    return count;
  }

  /** Memories of a scope of which jobs accepted until `at` are held although they ended. */
  async heldIn(scope: Scope, at: number): Promise<string[]> {
    const held = new Set<string>();
    const prefix = [HELD, scope.owner, scope.namespace];
    for (const key of await tableRead(Array.fromAsync(this.#kv.list({ prefix }), keyOf))) {
      const record = await this.#read(String(key[4]));
      if (record !== undefined && record.acceptedAt <= at) held.add(record.memoryId);
    }
    return [...held];
  }

  /** Ended jobs of a memory that are held. */
  async heldOf({ owner, namespace }: Scope, memoryId: string): Promise<EndedJob[]> {
    const held = this.#kv.list({ prefix: [HELD, owner, namespace, memoryId] });
    const keys = await tableRead(Array.fromAsync(held, keyOf));
    const records = await Promise.all(keys.map((key) => this.#read(String(key[4]))));
    return records.filter((record) => record !== undefined);
  }

  /** Drops what ended jobs of deleted memories still hold; they cannot be retried any more. */
  async discard(scope: Scope, memoryIds: readonly string[]): Promise<void> {
    for (let i = 0; i < memoryIds.length; i += TOGETHER) {
      const part = memoryIds.slice(i, i + TOGETHER);
      await Promise.all(part.map((memoryId) => this.#discardOf(scope, memoryId)));
    }
  }

  async #discardOf({ owner, namespace }: Scope, memoryId: string): Promise<void> {
    const held = this.#kv.list({ prefix: [HELD, owner, namespace, memoryId] });
    const keys = await tableRead(Array.fromAsync(held, keyOf));
    // Records of before are found by the memory's id alone.
    const ids = new Set([memoryId, ...keys.map((key) => String(key[4]))]);
    await this.#discard(owner, ids);
    if (keys.length === 0) return;
    await this.#writer.commit(keys.map((key) => ({ key, remove: true })));
  }

  async #discard(owner: string, ids: Iterable<string>): Promise<void> {
    for (const id of ids) {
      const record = await this.#read(id);
      if (record?.owner !== owner || this.#live.get(id) !== undefined) continue;
      const { payload, step, mayBeIndexed: _, ...rest } = record;
      if (payload === undefined && step === undefined) continue;
      await this.#writer.commit([
        rest.expired
          ? { key: ["job", id], remove: true }
          : { key: ["job", id], value: { ...rest, recallable: false }, bytes: 512 },
        ...this.#staging.discard(payload),
        ...this.#staging.discard(step),
      ]);
    }
  }

  async #read(id: string): Promise<EndedJob | undefined> {
    return (await tableRead(this.#kv.get<EndedJob>(["job", id]))).value ?? undefined;
  }
}

/**
 * First part of the keys that name ended jobs by scope and memory: those that hold bytes, and those
 * that a deletion ended, until it is done. A job may have another id than its memory, so that after a
 * crash nothing else leads from a deleted memory to its blob.
 */
const HELD = "held";

const keyOf = ({ key }: { readonly key: Deno.KvKey }) => key;

function heldKey({ owner, namespace, memoryId, id }: EndedJob): Deno.KvKey {
  return [HELD, owner, namespace, memoryId, id];
}

/** What makes an ended job be found by its memory and scope, where that is wanted. */
export function heldBy(job: EndedJob): Mutation[] {
  return isHeld(job) ? [{ key: heldKey(job), value: null, bytes: 128 }] : [];
}

/** What makes an ended job be found no more. */
export function heldNoMore(job: EndedJob): Mutation[] {
  return isHeld(job) ? [{ key: heldKey(job), remove: true }] : [];
}

function isHeld({ payload, step, blobId, errorCode }: EndedJob): boolean {
  const isDeleting = errorCode === "deleted" && blobId !== undefined;
  return payload !== undefined || step !== undefined || isDeleting;
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
