import { SvcError } from "../../../src/errors.ts";
import { isHeld } from "../../../src/interfaces/job_store.ts";
import type { EndedJob, Lease, Progress, Stored } from "../../../src/interfaces/mod.ts";
import { Batches } from "../../shared/batches.ts";
import type { Statements } from "../statements.ts";
import { columnsOfStored, recordOf, toJson } from "./job_rows.ts";

/** Writes of one statement. */
const MOST = 128;
/** Bytes of one statement of several writes. */
const BYTES = 4 * 1024 * 1024;
/** Statements of a kind under way at once. */
const LANES = 2;

/** The jobs of `$1`, a holder, that are still what those who write for them have: `$2` ids, `$3` turns. */
const MINE = "j.holder = $1 and j.ended_at is null and j.id = g.id and j.turn = g.turn";

/* Rows are locked in one order, so that nobody waits for somebody who waits for them. */
const PROGRESS = `with mine as (
    select j.id, g.progress from unnest($2::uuid[], $3::integer[], $4::bytea[]) as g(id, turn, progress)
    join svc.job j on ${MINE} order by j.id for update of j)
  update svc.job j set progress = mine.progress from mine where j.id = mine.id returning j.id`;

const SAVE_STEP = `with mine as (
    select j.id, j.step_stage as before, g.step, g.stage
    from unnest($2::uuid[], $3::integer[], $4::bytea[], $5::uuid[]) as g(id, turn, step, stage)
    join svc.job j on ${MINE} order by j.id for update of j),
  adopted as (
    update svc.staged s set adopted = true from mine where s.id = mine.stage),
  gone as (
    delete from svc.staged s using mine
    where s.id = mine.before and s.id is distinct from mine.stage)
  update svc.job j set step = mine.step, step_stage = mine.stage from mine where j.id = mine.id
  returning j.id`;

const END = `with mine as (
    select j.id, j.payload_stage, j.step_stage, g.ended_at, g.record, g.payload, g.step, g.held
    from unnest($2::uuid[], $3::integer[], $4::bigint[], $5::bytea[], $6::boolean[], $7::boolean[],
      $8::boolean[]) as g(id, turn, ended_at, record, payload, step, held)
    join svc.job j on ${MINE} order by j.id for update of j),
  gone as (
    delete from svc.staged s using mine
    where not mine.payload and s.id = mine.payload_stage
      or not mine.step and s.id = mine.step_stage)
  update svc.job j set ended_at = mine.ended_at, record = mine.record, progress = null,
    held = mine.held, expired = false,
    payload = case when mine.payload then j.payload end,
    payload_stage = case when mine.payload then j.payload_stage end,
    step = case when mine.step then j.step end,
    step_stage = case when mine.step then j.step_stage end
  from mine where j.id = mine.id returning j.id`;

interface Write<What> {
  readonly lease: Lease;
  readonly what: What;
}

/**
 * What is written for jobs that a holder has. Writes that wait for the database share a statement; each
 * is refused by itself where its job has ended, or was taken over.
 */
export class JobWrites {
  readonly #statements: () => Statements;
  readonly #holder: number;
  readonly #progress: Batches<Write<Progress>, void>;
  readonly #steps: Batches<Write<Stored>, void>;
  readonly #endings: Batches<Write<EndedJob>, void>;

  /** `statements` throws where the store is closed. */
  constructor(statements: () => Statements, holder: number) {
    this.#statements = statements;
    this.#holder = holder;
    const inline = ({ what }: Write<Stored>) => "inline" in what ? what.inline.length : 0;
    this.#progress = this.#batches(
      PROGRESS,
      () => 0,
      (all) => [all.map(({ what }) => toJson(what))],
    );
    this.#steps = this.#batches(SAVE_STEP, inline, (all) => {
      const steps = all.map(({ what }) => columnsOfStored(what));
      return [steps.map((step) => step.inline), steps.map(({ stage }) => stage)];
    });
    this.#endings = this.#batches(END, () => 0, (all) => [
      all.map(({ what }) => what.endedAt),
      all.map(({ what }) => recordOf(what)),
      all.map(({ what }) => what.payload !== undefined),
      all.map(({ what }) => what.step !== undefined),
      all.map(({ what }) => isHeld(what)),
    ]);
  }

  progress(lease: Lease, what: Progress): Promise<void> {
    return this.#progress.add({ lease, what });
  }

  saveStep(lease: Lease, what: Stored): Promise<void> {
    return this.#steps.add({ lease, what });
  }

  end(lease: Lease, what: EndedJob): Promise<void> {
    return this.#endings.add({ lease, what });
  }

  #batches<What>(
    sql: string,
    length: (write: Write<What>) => number,
    columns: (writes: readonly Write<What>[]) => readonly unknown[][],
  ): Batches<Write<What>, void> {
    const write = async (
      writes: readonly Write<What>[],
    ): Promise<Map<Write<What>, Promise<void>>> => {
      // Of several writes for one job each finds what the one before left.
      const firsts = [
        ...new Map(writes.toReversed().map((one) => [one.lease.jobId, one])).values(),
      ];
      const ids = firsts.map(({ lease }) => lease.jobId);
      const turns = firsts.map(({ lease }) => lease.turn);
      const rows = await this.#statements()
        .all<{ readonly id: string }>(sql, this.#holder, ids, turns, ...columns(firsts));
      const written = new Set(rows.map(({ id }) => id));
      const done = new Map(
        firsts.map((one) => [one, written.has(one.lease.jobId) ? Promise.resolve() : refusal()]),
      );
      const rest = writes.filter((one) => !done.has(one));
      if (rest.length === 0) return done;
      // What is written stays written, whatever becomes of the others.
      const later = await write(rest).catch((error) =>
        new Map(rest.map((one) => [one, told(Promise.reject(error))]))
      );
      return new Map([...done, ...later]);
    };
    const send = async (writes: readonly Write<What>[]) => {
      const done = await write(writes);
      return writes.map((one) => done.get(one)!);
    };
    return new Batches(send, { items: MOST, characters: BYTES, lanes: LANES, length });
  }
}

/** What was written for a job that ended or was taken over: nothing. */
function refusal(): Promise<never> {
  const text = "The job has ended, or was taken over";
  return told(Promise.reject(new SvcError("internal_error", text)));
}

/** A failure that its caller is told of by another promise, a turn later. */
function told(failed: Promise<never>): Promise<never> {
  failed.catch(() => {});
  return failed;
}
