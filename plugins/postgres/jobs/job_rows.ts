import type {
  AcceptedJob,
  EndedJob,
  HeldJob,
  Progress,
  Stored,
} from "../../../src/interfaces/mod.ts";
import { fromColumn, toColumn } from "../../../src/storage/sqlite/database.ts";

/** Where bytes of a job are: in one of two columns, or nowhere. */
export interface StoredColumns {
  readonly inline: Uint8Array | null;
  readonly stage: string | null;
}

/** A row of the jobs, as far as it is read. */
export interface JobRow {
  readonly id: string;
  readonly turn: number;
  readonly acceptedAt: number;
  readonly spec: Uint8Array;
  readonly progress: Uint8Array | null;
  readonly record: Uint8Array | null;
  readonly payload: Uint8Array | null;
  readonly payloadStage: string | null;
  readonly step: Uint8Array | null;
  readonly stepStage: string | null;
}

/** Columns of a {@linkcode JobRow}, of the table `j`. */
export const JOB_COLUMNS =
  `j.id, j.turn, j.accepted_at as "acceptedAt", j.spec, j.progress, j.record,
  j.payload, j.payload_stage as "payloadStage", j.step, j.step_stage as "stepStage"`;

export function toJson(value: unknown): Uint8Array {
  return toColumn(JSON.stringify(value));
}

function fromJson<T>(bytes: Uint8Array): T {
  return JSON.parse(fromColumn(bytes));
}

export function columnsOfStored(stored: Stored | undefined): StoredColumns {
  if (stored === undefined) return { inline: null, stage: null };
  return "inline" in stored
    ? { inline: stored.inline, stage: null }
    : { inline: null, stage: stored.stage };
}

/** A stage is one row here: it has one chunk. */
function storedOf(inline: Uint8Array | null, stage: string | null): Stored | undefined {
  if (stage !== null) return { stage, chunks: 1 };
  return inline === null ? undefined : { inline };
}

/** What a job is without its payload, as JSON. */
export function specOf({ payload: _, ...spec }: AcceptedJob): Uint8Array {
  return toJson(spec);
}

/** The record of an ended job without its bytes, as JSON. */
export function recordOf({ payload: _, step: __, ...record }: EndedJob): Uint8Array {
  return toJson(record);
}

export function heldJob(row: JobRow): HeldJob {
  const step = storedOf(row.step, row.stepStage);
  const payload = storedOf(row.payload, row.payloadStage)!;
  return {
    job: { ...fromJson<Omit<AcceptedJob, "payload">>(row.spec), payload },
    lease: { jobId: row.id, turn: row.turn },
    ...(row.progress === null ? {} : { progress: fromJson<Progress>(row.progress) }),
    ...(step === undefined ? {} : { step }),
  };
}

export function endedJob(row: JobRow): EndedJob {
  const [payload, step] = [
    storedOf(row.payload, row.payloadStage),
    storedOf(row.step, row.stepStage),
  ];
  return {
    ...fromJson<EndedJob>(row.record!),
    ...(payload === undefined ? {} : { payload }),
    ...(step === undefined ? {} : { step }),
  };
}
