import { SvcError } from "../../../src/errors.ts";
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
} from "../../../src/interfaces/mod.ts";
import { columnsOf, toColumn } from "../../../src/storage/sqlite/database.ts";
import type { DatabaseOptions, PostgresDatabase } from "../database.ts";
import { DatabaseShare } from "../shared_database.ts";
import { accept, Accepts, refused } from "./accepts.ts";
import {
  columnsOfStored,
  endedJob,
  heldJob,
  holds,
  JOB_COLUMNS,
  type JobRow,
  recordOf,
  toJson,
} from "./job_rows.ts";
import { columnsOfNotes, dropNotes, KIND, makePartitions } from "./notes.ts";

/** Settings of {@linkcode postgresJobStore}. */
export interface PostgresJobStoreOptions extends DatabaseOptions {
  /** How long what this opening has is its own without being renewed, milliseconds; 15,000 when absent. */
  readonly leaseMs?: number;
}

/** Bytes up to this size are in the row of what refers to them. */
const INLINE_BYTES = 16 * 1024;

/** Conditions of a lease: `$1` is the job, `$2` the holder, `$3` the turn. */
const MINE = "j.id = $1 and j.holder = $2 and j.turn = $3 and j.ended_at is null";

/**
 * Takes what holders have whose time is over: of each the first so many, in the order of an index,
 * and of these the first. What is locked beside them is free for the next claim.
 */
const CLAIM = `with free as (
    select first.id from svc.holder h cross join lateral (
      select j.id, j.accepted_at from svc.job j where j.holder = h.id and j.ended_at is null
      order by j.accepted_at, j.id limit $2 for update skip locked) as first
    where h.until <= clock_timestamp() and h.id <> $1
    order by first.accepted_at, first.id limit $2)
  update svc.job j set holder = $1, turn = j.turn + 1 from free where j.id = free.id
  returning ${JOB_COLUMNS}`;

/**
 * Jobs in tables of a PostgreSQL database, which several relayers may use. Each opening is a holder,
 * whose time is told by the server's clock; jobs of a holder whose time is over are claimed by others.
 *
 * @throws {SvcError} `storage_unavailable` when the database cannot be used; `invalid_parameter` when
 * a later version of the program wrote it.
 */
export async function postgresJobStore(options: PostgresJobStoreOptions): Promise<JobStore> {
  const { leaseMs = 15_000 } = options;
  const share = await DatabaseShare.open(options);
  try {
    const { id } = (await share.database.get<{ readonly id: number }>(
      `insert into svc.holder(until)
       values(clock_timestamp() + make_interval(secs => $1)) returning id`,
      leaseMs / 1000,
    ))!;
    return new PostgresJobStore(share, id, leaseMs);
  } catch (error) {
    await share[Symbol.asyncDispose]();
    throw error;
  }
}

class PostgresJobStore implements JobStore {
  readonly isShared = true;
  readonly #share: DatabaseShare;
  readonly #holder: number;
  readonly #leaseMs: number;
  readonly #accepts: Accepts;

  constructor(share: DatabaseShare, holder: number, leaseMs: number) {
    this.#share = share;
    this.#holder = holder;
    this.#leaseMs = leaseMs;
    this.#accepts = new Accepts(share.database, holder);
  }

  get #database(): PostgresDatabase {
    this.#share.check(undefined);
    return this.#share.database;
  }

  async stage(bytes: Uint8Array, inlineBytes = INLINE_BYTES): Promise<Stored> {
    const kept = new Uint8Array(bytes);
    if (kept.length <= inlineBytes) return { inline: kept };
    const stage = crypto.randomUUID();
    const sql = "insert into svc.staged(id, at, bytes) values($1, $2, $3)";
    await this.#database.all(sql, stage, Date.now(), kept);
    return { stage, chunks: 1 };
  }

  async read(stored: Stored): Promise<Uint8Array | undefined> {
    if ("inline" in stored) return stored.inline;
    const sql = "select bytes from svc.staged where id = $1";
    return (await this.#database.get<{ readonly bytes: Uint8Array }>(sql, stored.stage))?.bytes;
  }

  async accept(jobs: readonly AcceptedJob[], notes: readonly Note[]): Promise<Lease[]> {
    this.#share.check(undefined);
    if (jobs.length + notes.length > 0) await this.#accepts.add(jobs, notes);
    return jobs.map(({ id }) => ({ jobId: id, turn: 1 }));
  }

  async answerTo(text: Uint8Array): Promise<Uint8Array | undefined> {
    return (await this.#answer(KIND.text, text))?.answer;
  }

  async idempotent(key: Uint8Array): Promise<IdempotentAnswer | undefined> {
    return await this.#answer(KIND.key, key);
  }

  async claim(limit: number): Promise<HeldJob[]> {
    const rows = await this.#database.all<JobRow>(
      CLAIM,
      this.#holder,
      limit,
    );
    return rows.sort((a, b) => a.acceptedAt - b.acceptedAt || (a.id < b.id ? -1 : 1)).map(heldJob);
  }

  async renew(): Promise<boolean> {
    const row = await this.#database.get<{ readonly had: boolean }>(
      `with before as (
         select id, until > clock_timestamp() as had from svc.holder where id = $1 for update)
       update svc.holder h set until = clock_timestamp() + make_interval(secs => $2)
       from before where h.id = before.id returning before.had`,
      this.#holder,
      this.#leaseMs / 1000,
    );
    return row?.had ?? false;
  }

  async progress({ jobId, turn }: Lease, progress: Progress): Promise<void> {
    const sql = `update svc.job j set progress = $4 where ${MINE} returning 1`;
    this.#sure(await this.#database.all(sql, jobId, this.#holder, turn, toJson(progress)));
  }

  async saveStep({ jobId, turn }: Lease, step: Stored): Promise<void> {
    const { inline, stage } = columnsOfStored(step);
    const written = await this.#database.all(
      `with mine as (select j.id, j.step_stage from svc.job j where ${MINE} for update),
       adopted as (
         update svc.staged s set adopted = true from mine where s.id = $5::uuid),
       gone as (
         delete from svc.staged s using mine
         where s.id = mine.step_stage and s.id is distinct from $5::uuid)
       update svc.job j set step = $4, step_stage = $5 from mine where j.id = mine.id returning 1`,
      jobId,
      this.#holder,
      turn,
      inline,
      stage,
    );
    this.#sure(written);
  }

  async end({ jobId, turn }: Lease, ended: EndedJob): Promise<void> {
    const written = await this.#database.all(
      `with mine as (
         select j.id, j.payload_stage, j.step_stage from svc.job j where ${MINE} for update),
       gone as (
         delete from svc.staged s using mine
         where not $6 and s.id = mine.payload_stage or not $7 and s.id = mine.step_stage)
       update svc.job j set ended_at = $4, record = $5, progress = null, held = $8, expired = false,
         payload = case when $6 then j.payload end,
         payload_stage = case when $6 then j.payload_stage end,
         step = case when $7 then j.step end, step_stage = case when $7 then j.step_stage end
       from mine where j.id = mine.id returning 1`,
      jobId,
      this.#holder,
      turn,
      ended.endedAt,
      recordOf(ended),
      ended.payload !== undefined,
      ended.step !== undefined,
      holds(ended),
    );
    this.#sure(written);
  }

  async retry(ended: EndedJob, progress: Progress, notes: readonly Note[]): Promise<Lease> {
    const { buckets } = columnsOfNotes(notes);
    if (buckets.length > 0) {
      await this.#database.transaction((statements) => makePartitions(statements, buckets));
    }
    const retrying = this.#database.transaction(async (statements) => {
      const row = await statements.get<{ readonly turn: number }>(
        `update svc.job set ended_at = null, record = null, held = false, expired = false,
           progress = $3, holder = $4, turn = turn + 1
         where id = $1 and ended_at = $2 and (payload is not null or payload_stage is not null)
         returning turn`,
        ended.id,
        ended.endedAt,
        toJson(progress),
        this.#holder,
      );
      if (row === undefined) throw new SvcError("job_not_retryable");
      await accept(statements, this.#holder, { jobs: [], notes });
      return row.turn;
    });
    const turn = await retrying.catch((error) => {
      throw refused(error, { notes });
    });
    return { jobId: ended.id, turn };
  }

  async ended(id: string): Promise<EndedJob | undefined> {
    const sql = `select ${JOB_COLUMNS} from svc.job j where j.id = $1 and j.ended_at is not null`;
    const row = await this.#database.get<JobRow>(sql, id);
    return row && endedJob(row);
  }

  async isUnfinished(id: string): Promise<boolean> {
    const sql = "select 1 from svc.job where id = $1 and ended_at is null";
    return await this.#database.get(sql, id) !== undefined;
  }

  async endedBefore(time: number, limit: number): Promise<EndedJob[]> {
    const sql = `select ${JOB_COLUMNS} from svc.job j
      where j.ended_at < $1 and not j.expired order by j.ended_at, j.id limit $2`;
    const before = Math.min(time, Number.MAX_SAFE_INTEGER);
    return (await this.#database.all<JobRow>(sql, before, limit)).map(endedJob);
  }

  async held(scope: Scope, memoryId?: string): Promise<EndedJob[]> {
    const sql = `select ${JOB_COLUMNS} from svc.job j
      where j.held and j.owner = $1 and j.namespace = $2 and ($3::bytea is null or j.memory = $3)`;
    const memory = memoryId === undefined ? null : toColumn(memoryId);
    const rows = await this.#database.all<JobRow>(sql, ...columnsOf(scope), memory);
    return rows.map(endedJob);
  }

  async replace(ended: EndedJob, letGo = false): Promise<void> {
    await this.#database.all(
      `with this as (
         select j.id, j.payload_stage, j.step_stage from svc.job j
         where j.id = $1 and j.ended_at = $2 for update),
       gone as (
         delete from svc.staged s using this
         where not $4 and s.id = this.payload_stage or not $5 and s.id = this.step_stage)
       update svc.job j set record = $3, held = $6, expired = $7,
         payload = case when $4 then j.payload end,
         payload_stage = case when $4 then j.payload_stage end,
         step = case when $5 then j.step end, step_stage = case when $5 then j.step_stage end
       from this where j.id = this.id`,
      ended.id,
      ended.endedAt,
      recordOf(ended),
      ended.payload !== undefined,
      ended.step !== undefined,
      !letGo && holds(ended),
      ended.expired ?? false,
    );
  }

  async forget({ id, endedAt }: EndedJob): Promise<void> {
    await this.#database.all(
      `with gone as (
         delete from svc.job where id = $1 and ended_at = $2 returning payload_stage, step_stage)
       delete from svc.staged s using gone
       where s.id = gone.payload_stage or s.id = gone.step_stage`,
      id,
      endedAt,
    );
  }

  async sweep(stagedBefore: number, notedBefore: number): Promise<number> {
    await this.#database.transaction((statements) => dropNotes(statements, notedBefore));
    await this.#database.all(
      `delete from svc.holder h where until < clock_timestamp() - interval '1 hour'
       and not exists (select 1 from svc.job j where j.holder = h.id and j.ended_at is null)`,
    );
    const orphans = await this.#database.all(
      "delete from svc.staged where not adopted and at < $1 returning 1",
      Math.min(stagedBefore, Number.MAX_SAFE_INTEGER),
    );
    return orphans.length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#share.check(undefined);
      // What is unfinished may be claimed at once; else when the time is over.
      const sql = "update svc.holder set until = '-infinity' where id = $1";
      await this.#share.database.all(sql, this.#holder);
    } catch {
      // It was closed before, or the database cannot be reached.
    }
    await this.#share[Symbol.asyncDispose]();
  }

  async #answer(kind: number, digest: Uint8Array): Promise<IdempotentAnswer | undefined> {
    const sql =
      "select body, answer, ends as until from svc.answer where kind = $1 and digest = $2";
    return await this.#database.get<IdempotentAnswer>(sql, kind, digest);
  }

  /** Refuses what was written for a job that ended or was taken over: nothing was. */
  #sure(written: readonly unknown[]): void {
    if (written.length > 0) return;
    throw new SvcError("internal_error", "The job has ended, or was taken over");
  }
}
