import { SvcError } from "../../../src/errors.ts";
import type { AcceptedJob, Note } from "../../../src/interfaces/mod.ts";
import { toColumn } from "../../../src/storage/sqlite/database.ts";
import { type PostgresDatabase, refusalOf } from "../database.ts";
import type { Statements } from "../statements.ts";
import { columnsOfStored, specOf } from "./job_rows.ts";
import { columnsOfNotes, makePartitions } from "./notes.ts";

/** Most jobs and notes of one statement, unless one request brings more. */
const MOST = 500;
/** Statements under way at once: while one is being written, the next can be read by the server. */
const LANES = 2;

/** What is accepted together, by one request. */
interface Request {
  readonly jobs: readonly AcceptedJob[];
  readonly notes: readonly Note[];
}

interface Waiting extends Request {
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * One statement, so that all of it or nothing is there afterwards. Where an answer stands in the way, or
 * staged bytes are gone, the division by zero at its end takes everything back; where an owner is
 * somebody else's, the root of a negative number.
 */
const ACCEPT = `with jobs as (
    insert into svc.job(id, owner, namespace, memory, accepted_at, spec, holder, payload,
      payload_stage)
    select id, owner, namespace, memory, accepted_at, spec, $1, payload, stage
    from unnest($2::uuid[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bigint[], $7::bytea[],
      $8::bytea[], $9::uuid[])
      as g(id, owner, namespace, memory, accepted_at, spec, payload, stage)),
  nonces as (
    insert into svc.nonce(bucket, digest)
    select * from unnest($10::integer[], $11::bytea[])),
  kept as (
    insert into svc.answer as a (kind, digest, body, answer, ends)
    select * from unnest($12::smallint[], $13::bytea[], $14::bytea[], $15::bytea[], $16::bigint[])
    on conflict (kind, digest) do update
      set body = excluded.body, answer = excluded.answer, ends = excluded.ends
      where a.kind = 1 and a.ends < $17 or a.answer = any($19::bytea[])
    returning 1),
  adopted as (
    update svc.staged set adopted = true where id = any($9::uuid[]) returning 1),
  own as (
    select 1 from svc.owner where owner = any($18::bytea[]) and holder = $1 for share)
  select sqrt((select count(*) from own)::float8 - cardinality($18::bytea[])), 1 / ((select count(*) from kept) = cardinality($12::smallint[])
    and (select count(*) from adopted) = cardinality(array_remove($9::uuid[], null)))::int`;

/** For requests that keep nothing but that they came, as recalls do: read and planned in no time. */
const NOTE_NONCES = `insert into svc.nonce(bucket, digest)
  select * from unnest($1::integer[], $2::bytea[])`;

/** The same for those that only read: seen by all at once, on disk a moment later. */
const NOTE_NONCES_OF_READS = `insert into svc.nonce(bucket, digest)
  select g.* from (select set_config('synchronous_commit', 'off', true)) as s,
    unnest($1::integer[], $2::bytea[]) as g`;

/** SQLSTATEs that `ACCEPT` may end with because of what it was given. */
const STATE = {
  taken: "23505",
  noPartition: "23514",
  divided: "22012",
  twice: "21000",
  root: "2201F",
};

/** States behind which nobody knows what was written: connections that end, also a pooler's. */
const UNKNOWN = /^(?:57P|08|40003)/;

/** Accepts requests of one holder, several in one statement where several wait. */
export class Accepts {
  readonly #database: PostgresDatabase;
  readonly #holder: number;
  readonly #isLeased: boolean;
  readonly #waiting: Waiting[] = [];
  #underWay = 0;

  /** `isLeased`: jobs of owners that the holder does not have are refused. */
  constructor(
    database: PostgresDatabase,
    { holder, isLeased }: { readonly holder: number; readonly isLeased: boolean },
  ) {
    this.#database = database;
    this.#holder = holder;
    this.#isLeased = isLeased;
  }

  /** Accepts one request; durable once it resolves. */
  add(jobs: readonly AcceptedJob[], notes: readonly Note[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ jobs, notes, resolve, reject });
      // One turn later: everything added in this turn shares a statement.
      queueMicrotask(() => this.#start());
    });
  }

  #start(): void {
    while (this.#underWay < LANES && this.#waiting.length > 0) {
      this.#underWay++;
      void this.#write(this.#take()).finally(() => {
        this.#underWay--;
        this.#start();
      });
    }
  }

  #take(): Waiting[] {
    let count = 0;
    let size = 0;
    const sizeOf = ({ jobs, notes }: Request) => jobs.length + notes.length;
    do size += sizeOf(this.#waiting[count++]!); while (
      count < this.#waiting.length && size + sizeOf(this.#waiting[count]!) <= MOST
    );
    return this.#waiting.splice(0, count);
  }

  async #write(group: readonly Waiting[]): Promise<void> {
    try {
      await this.#accept(group);
      for (const { resolve } of group) resolve();
    } catch (error) {
      // Without the server's refusal nobody knows whether they are written.
      const state = refusalOf(error)?.state;
      const isRefused = state !== undefined && !UNKNOWN.test(state);
      if (group.length === 1 || !isRefused) {
        for (const item of group) item.reject(refused(error, item));
        return;
      }
      // One bad request must not refuse the others.
      for (const item of group) await this.#write([item]);
    }
  }

  async #accept(group: readonly Request[]): Promise<void> {
    const jobs = group.flatMap((item) => item.jobs);
    const owners = this.#isLeased ? [...new Set(jobs.map(({ owner }) => owner))] : [];
    const request = { jobs, notes: group.flatMap(({ notes }) => notes), owners };
    try {
      await accept(this.#database, this.#holder, request);
    } catch (error) {
      if (refusalOf(error)?.state !== STATE.noPartition) throw error;
      const { buckets } = columnsOfNotes(request.notes);
      await this.#database.transaction((statements) => makePartitions(statements, buckets));
      await accept(this.#database, this.#holder, request);
    }
  }
}

/** Keeps jobs of a holder and notes, or nothing of both; nothing where it lacks one of the owners. */
export async function accept(
  statements: Statements,
  holder: number,
  { jobs, notes, owners }: Request & { readonly owners: readonly string[] },
): Promise<void> {
  const payloads = jobs.map(({ payload }) => columnsOfStored(payload));
  const columns = columnsOfNotes(notes);
  const { buckets, nonces, kinds, digests, bodies, answers, ends, replaced, now } = columns;
  if (jobs.length + kinds.length + owners.length === 0) {
    if (notes.length === 0) return;
    const isOfReads = notes.every((note) => "nonce" in note && note.ofRead);
    await statements.all(isOfReads ? NOTE_NONCES_OF_READS : NOTE_NONCES, buckets, nonces);
    return;
  }
  await statements.all(
    ACCEPT,
    holder,
    jobs.map(({ id }) => id),
    jobs.map(({ owner }) => toColumn(owner)),
    jobs.map(({ namespace }) => toColumn(namespace)),
    jobs.map(({ memoryId }) => toColumn(memoryId)),
    jobs.map(({ acceptedAt }) => acceptedAt),
    jobs.map(specOf),
    payloads.map(({ inline }) => inline),
    payloads.map(({ stage }) => stage),
    buckets,
    nonces,
    kinds,
    digests,
    bodies,
    answers,
    ends,
    now,
    owners.map(toColumn),
    replaced,
  );
}

/** What a request is refused with, where the reason is in what it brought. */
export function refused(error: unknown, { notes }: Pick<Request, "notes">): unknown {
  const refusal = refusalOf(error);
  if (refusal?.state === STATE.taken && refusal.table?.startsWith("nonce")) {
    return new SvcError("nonce_reused");
  }
  if (refusal?.state === STATE.root) {
    return new SvcError("overloaded", "Another relayer works for this account now: try again");
  }
  const isKept = notes.some((note) => !("nonce" in note));
  if (isKept && (refusal?.state === STATE.divided || refusal?.state === STATE.twice)) {
    return new SvcError("idempotency_in_progress", undefined, { retryAfter: 1 });
  }
  return error;
}
