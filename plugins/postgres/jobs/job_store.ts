import { SvcError } from "../../../src/errors.ts";
import { isHeld } from "../../../src/interfaces/job_store.ts";
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
import type { Statements } from "../statements.ts";
import { accept, Accepts, refused } from "./accepts.ts";
import { endedJob, heldJob, JOB_COLUMNS, type JobRow, recordOf, toJson } from "./job_rows.ts";
import { JobWrites } from "./job_writes.ts";
import { columnsOfNotes, dropNotes, keptNotes, KIND, makePartitions } from "./notes.ts";

/** Settings of {@linkcode postgresJobStore}. */
export interface PostgresJobStoreOptions extends DatabaseOptions {
  /** How long what this opening has is its own without being renewed, milliseconds; 15,000 when absent. */
  readonly leaseMs?: number;
}

/** Bytes up to this size are in the row of what refers to them. */
const INLINE_BYTES = 16 * 1024;

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

/** Takes what nobody has of an owner that this holder has now. */
const CLAIM_OF_OWNER = `with free as (
    select j.id from svc.job j join svc.owner o on o.owner = j.owner and o.holder = $1
    where j.owner = $3 and j.ended_at is null and j.holder <> $1
    order by j.accepted_at, j.id limit $2 for update of j)
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
  return (await openJobStore(options, false)).jobs;
}

/**
 * Opens a job store, and answers which holder it is.
 *
 * @param isLeased Whether jobs are accepted for the owners that the holder has alone.
 */
export async function openJobStore(
  options: PostgresJobStoreOptions,
  isLeased: boolean,
): Promise<{ readonly jobs: JobStore; readonly holder: number }> {
  const { leaseMs = 15_000 } = options;
  const share = await DatabaseShare.open(options);
  try {
    const { id } = (await share.database.get<{ readonly id: number }>(
      `insert into svc.holder(until)
       values(clock_timestamp() + make_interval(secs => $1)) returning id`,
      leaseMs / 1000,
    ))!;
    return { jobs: new PostgresJobStore(share, id, leaseMs, isLeased), holder: id };
  } catch (error) {
    await share[Symbol.asyncDispose]();
    throw error;
  }
}

/** Renews what the holder `$1` has for `$2` seconds; `before` tells whether it had it still. */
export const RENEWING = `with before as (
    select until > clock_timestamp() as had from svc.holder where id = $1 for update),
  renewed as (
    insert into svc.holder(id, until) overriding system value
    values($1, clock_timestamp() + make_interval(secs => $2))
    on conflict (id) do update set until = excluded.until)`;

/** Renews what a holder has; answers whether it had it still. One that was swept is there again. */
async function renewHolder(
  statements: Statements,
  holder: number,
  leaseMs: number,
): Promise<boolean> {
  const row = await statements.get<{ readonly had: boolean }>(
    `${RENEWING} select coalesce((select had from before), false) as had`,
    holder,
    leaseMs / 1000,
  );
  return row!.had;
}

class PostgresJobStore implements JobStore {
  readonly isShared = true;
  readonly #share: DatabaseShare;
  readonly #holder: number;
  readonly #leaseMs: number;
  readonly #isLeased: boolean;
  readonly #accepts: Accepts;
  readonly #writes: JobWrites;

  constructor(share: DatabaseShare, holder: number, leaseMs: number, isLeased: boolean) {
    this.#share = share;
    this.#holder = holder;
    this.#leaseMs = leaseMs;
    this.#isLeased = isLeased;
    this.#accepts = new Accepts(share.database, { holder, isLeased });
    this.#writes = new JobWrites(() => this.#database, holder);
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

  notes(): AsyncIterable<Note> {
    return keptNotes(this.#database);
  }

  async claim(limit: number, owner?: string): Promise<HeldJob[]> {
    const rows = owner === undefined
      ? await this.#database.all<JobRow>(CLAIM, this.#holder, limit)
      : await this.#database.all<JobRow>(CLAIM_OF_OWNER, this.#holder, limit, toColumn(owner));
    return rows.sort((a, b) => a.acceptedAt - b.acceptedAt || (a.id < b.id ? -1 : 1)).map(heldJob);
  }

  async renew(): Promise<boolean> {
    return await renewHolder(this.#database, this.#holder, this.#leaseMs);
  }

  async progress(lease: Lease, progress: Progress): Promise<void> {
    await this.#writes.progress(lease, progress);
  }

  async saveStep(lease: Lease, step: Stored): Promise<void> {
    await this.#writes.saveStep(lease, step);
  }

  async end(lease: Lease, ended: EndedJob): Promise<void> {
    await this.#writes.end(lease, ended);
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
      const owners = this.#isLeased ? [ended.owner] : [];
      await accept(statements, this.#holder, { jobs: [], notes, owners });
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
      !letGo && isHeld(ended),
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
       and not exists (select 1 from svc.job j where j.holder = h.id and j.ended_at is null)
       and not exists (select 1 from svc.owner o where o.holder = h.id)`,
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
}
