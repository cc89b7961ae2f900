import { Buffer } from "node:buffer";
import { SvcError } from "../errors.ts";
import type {
  AcceptedJob,
  EndedJob,
  HeldJob,
  IdempotentAnswer,
  JobStore,
  Lease,
  Note,
  Progress,
  Scope,
  Stored,
} from "../interfaces/mod.ts";
import { acceptedJob, isHeld } from "../interfaces/job_store.ts";
import { readUnfinished } from "./recovery.ts";
import { bucketOf, keptNotes } from "./notes.ts";
import {
  type KvWriter,
  liveBytes,
  type Mutation,
  type Staging,
  storedBytes,
  tableRead,
} from "./staging.ts";

/** Turn of every lease: nobody takes a job from the one process that owns the table. */
const TURN = 1;
/** Buckets in which a note of the last ten minutes may lie, while the clock is set right. */
const BUCKETS = [0, -1, 1];

/** What an unfinished job refers to. */
interface Unfinished {
  readonly job: AcceptedJob;
  step: Stored | undefined;
}

/**
 * Jobs on Deno KV. `["live", id]` is an unfinished job as it was accepted, `["progress", id]` says
 * how often it was tried and when it may run, `["step", id]` holds its sealed result. `["job", id]` is
 * the record of an ended one, `["ended", time, id]` says when that may go. One process owns the table.
 */
export class KvJobStore implements JobStore {
  readonly #kv: Deno.Kv;
  readonly #writer: KvWriter;
  readonly #staging: Staging;
  /** Also jobs whose commit is not answered yet. */
  readonly #unfinished = new Map<string, Unfinished>();
  /** What an earlier process left, and nobody has claimed; unknown before the first claim. */
  #left: HeldJob[] | undefined;
  #isClosed = false;

  /** Uses a table, its writer and its staging, which stay the caller's. */
  constructor(kv: Deno.Kv, writer: KvWriter, staging: Staging) {
    this.#kv = kv;
    this.#writer = writer;
    this.#staging = staging;
  }

  stage(bytes: Uint8Array, inlineBytes?: number): Promise<Stored> {
    return this.#staging.put(bytes, inlineBytes);
  }

  read(stored: Stored): Promise<Uint8Array | undefined> {
    return this.#staging.get(stored);
  }

  async accept(jobs: readonly AcceptedJob[], notes: readonly Mutation[]): Promise<Lease[]> {
    const mutations: Mutation[] = [...notes];
    for (const job of jobs) {
      this.#unfinished.set(job.id, { job, step: undefined });
      mutations.push(
        { key: ["live", job.id], value: job, bytes: liveBytes(job) },
        ...this.#staging.adopt(job.payload),
      );
    }
    try {
      await this.#writer.commit(mutations, true);
    } catch (error) {
      // A failed commit may only have lost its answer: then the table shows what it wrote.
      const [first] = jobs;
      if (first === undefined || !await this.#has(["live", first.id])) {
        for (const { id } of jobs) this.#unfinished.delete(id);
        throw error;
      }
    }
    return jobs.map(({ id }) => ({ jobId: id, turn: TURN }));
  }

  async answerTo(text: Uint8Array): Promise<Uint8Array | undefined> {
    const now = bucketOf(Date.now());
    const keys = BUCKETS.map((step) => ["used", now + step, text]);
    const found = await tableRead(this.#kv.getMany<Uint8Array[]>(keys));
    return found.find(({ value }) => value !== null)?.value ?? undefined;
  }

  async idempotent(key: Uint8Array): Promise<IdempotentAnswer | undefined> {
    const place = ["idempotency", key];
    return (await tableRead(this.#kv.get<IdempotentAnswer>(place))).value ?? undefined;
  }

  notes(): AsyncIterable<Note> {
    return keptNotes(this.#kv);
  }

  async claim(limit: number): Promise<HeldJob[]> {
    if (this.#isClosed) throw new SvcError("storage_unavailable", "The store is closed");
    if (this.#left === undefined) {
      const all = await readUnfinished(this.#kv, this.#writer, this.#staging, TURN);
      this.#left = all.filter(({ job }) => !this.#unfinished.has(job.id));
      for (const { job, step } of this.#left) this.#unfinished.set(job.id, { job, step });
    }
    return this.#left.splice(0, limit);
  }

  renew(): Promise<boolean> {
    return Promise.resolve(true);
  }

  async progress(lease: Lease, progress: Progress): Promise<void> {
    this.#held(lease);
    await this.#writer.commit([progressOf(lease.jobId, progress)]);
  }

  async saveStep(lease: Lease, step: Stored): Promise<void> {
    const held = this.#held(lease);
    const before = held.step;
    held.step = step;
    const key = ["step", lease.jobId];
    try {
      await this.#writer.commit([
        { key, value: step, bytes: storedBytes(step) },
        ...this.#staging.adopt(step),
        ...this.#staging.discard(before),
      ]);
    } catch (error) {
      const known = await this.#kv.get<Stored>(key).catch(() => undefined);
      held.step = known === undefined ? before : known.value ?? undefined;
      if (held.step !== undefined && isSame(held.step, step)) return;
      throw error;
    }
  }

  async end(lease: Lease, ended: EndedJob): Promise<void> {
    const { id, endedAt } = ended;
    const { job, step } = this.#held(lease);
    const written = this.#writer.commit([
      { key: ["job", id], value: ended, bytes: 512 },
      { key: ["ended", endedAt, id], value: null, bytes: 8 },
      { key: ["live", id], remove: true },
      { key: ["progress", id], remove: true },
      { key: ["step", id], remove: true },
      ...(ended.payload === undefined ? this.#staging.discard(job.payload) : []),
      ...(ended.step === undefined ? this.#staging.discard(step) : []),
      ...(isHeld(ended) ? [{ key: heldKey(ended), value: null, bytes: 128 }] : []),
    ]);
    await written.catch(async (error) => {
      if (!await this.#has(["job", id])) throw error;
    });
    this.#unfinished.delete(id);
  }

  async retry(ended: EndedJob, progress: Progress, notes: readonly Mutation[]): Promise<Lease> {
    const { id, endedAt, payload, step } = ended;
    if (payload === undefined || await this.#record(ended) === undefined) {
      throw new SvcError("job_not_retryable");
    }
    const job = acceptedJob(ended, payload);
    this.#unfinished.set(id, { job, step });
    try {
      await this.#writer.commit([
        ...notes,
        { key: ["live", id], value: job, bytes: 1024 },
        { key: ["job", id], remove: true },
        { key: ["ended", endedAt, id], remove: true },
        { key: heldKey(ended), remove: true },
        progressOf(id, progress),
        ...(step === undefined ? [] : [{ key: ["step", id], value: step }]),
      ], true);
    } catch (error) {
      if (!await this.#has(["live", id])) {
        this.#unfinished.delete(id);
        throw error;
      }
    }
    return { jobId: id, turn: TURN };
  }

  async ended(id: string): Promise<EndedJob | undefined> {
    return (await tableRead(this.#kv.get<EndedJob>(["job", id]))).value ?? undefined;
  }

  isUnfinished(id: string): Promise<boolean> {
    return Promise.resolve(this.#unfinished.has(id));
  }

  async endedBefore(time: number, limit: number): Promise<EndedJob[]> {
    const found: EndedJob[] = [];
    let start: Deno.KvKey = ["ended"];
    for (;;) {
      const selector = { start, end: ["ended", time] };
      const entries = this.#kv.list(selector, { limit, batchSize: Math.min(limit, 100) });
      const keys = await tableRead(Array.fromAsync(entries, ({ key }) => key));
      for (const key of keys) {
        const record = await this.ended(String(key[2]));
        // A retried job has no record, or will have none with the next commit.
        const isCurrent = record !== undefined && record.endedAt === key[1] &&
          !this.#unfinished.has(record.id);
        if (isCurrent) found.push(record);
        else await this.#writer.commit([{ key, remove: true }]);
        if (found.length === limit) return found;
      }
      if (keys.length < limit) return found;
      // A key with one more part is the next one after it.
      start = [...keys.at(-1)!, ""];
    }
  }

  async held({ owner, namespace }: Scope, memoryId?: string): Promise<EndedJob[]> {
    const prefix = [HELD, owner, namespace, ...memoryId === undefined ? [] : [memoryId]];
    const entries = this.#kv.list({ prefix });
    const keys = await tableRead(Array.fromAsync(entries, ({ key }) => key));
    const records = await Promise.all(keys.map((key) => this.ended(String(key[4]))));
    return records.filter((record) => record !== undefined);
  }

  async replace(ended: EndedJob, letGo = false): Promise<void> {
    const before = await this.#record(ended);
    if (before === undefined) return;
    const { id, endedAt } = ended;
    await this.#writer.commit([
      { key: ["job", id], value: ended, bytes: 512 },
      ...(ended.expired ? [{ key: ["ended", endedAt, id], remove: true } as const] : []),
      ...(ended.payload === undefined ? this.#staging.discard(before.payload) : []),
      ...(ended.step === undefined ? this.#staging.discard(before.step) : []),
      ...(letGo || !isHeld(ended) ? [{ key: heldKey(ended), remove: true } as const] : []),
    ]);
  }

  async forget(ended: EndedJob): Promise<void> {
    const before = await this.#record(ended);
    if (before === undefined) return;
    await this.#writer.commit([
      { key: ["job", ended.id], remove: true },
      { key: ["ended", ended.endedAt, ended.id], remove: true },
      { key: heldKey(ended), remove: true },
      ...this.#staging.discard(before.payload),
      ...this.#staging.discard(before.step),
    ]);
  }

  sweep(stagedBefore: number): Promise<number> {
    return this.#staging.sweep(stagedBefore);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    return Promise.resolve();
  }

  /** What an unfinished job refers to. */
  #held({ jobId }: Lease): Unfinished {
    const held = this.#unfinished.get(jobId);
    if (held === undefined) throw new SvcError("internal_error", "The job has ended");
    return held;
  }

  /** The record of a job, if it is of this very end. */
  async #record({ id, endedAt }: EndedJob): Promise<EndedJob | undefined> {
    const record = await this.ended(id);
    return record?.endedAt === endedAt ? record : undefined;
  }

  async #has(key: Deno.KvKey): Promise<boolean> {
    const found = await this.#kv.get(key).catch(() => undefined);
    return Boolean(found?.value);
  }
}

function progressOf(id: string, progress: Progress): Mutation {
  return { key: ["progress", id], value: progress, bytes: 128 };
}

/** Whether both are the same bytes, or the same stage. */
function isSame(a: Stored, b: Stored): boolean {
  if ("stage" in a) return "stage" in b && a.stage === b.stage;
  return "inline" in b && Buffer.compare(a.inline, b.inline) === 0;
}

/** First part of the keys that name held records by scope and memory. */
const HELD = "held";

function heldKey({ owner, namespace, memoryId, id }: EndedJob): Deno.KvKey {
  return [HELD, owner, namespace, memoryId, id];
}
