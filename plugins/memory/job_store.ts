import { SvcError } from "../../src/errors.ts";
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
} from "../../src/interfaces/mod.ts";
import { acceptedJob, isHeld } from "../../src/interfaces/job_store.ts";
import { Gate } from "./gate.ts";

/** Jobs in maps, which several openings share as processes share a database. */
export interface MemoryJobs extends AsyncDisposable {
  /** Opens it once more. */
  open(options?: MemoryJobsOptions): JobStore;
  /** Makes the unfinished jobs of an owner nobody's. */
  letGo(owner: string): void;
}

/** Settings of one opening. */
export interface MemoryJobsOptions {
  /** How long its jobs are its own without being renewed, milliseconds; 30,000 when absent. */
  readonly leaseMs?: number;
}

interface Unfinished {
  readonly job: AcceptedJob;
  holder: Holder;
  turn: number;
  progress: Progress | undefined;
  step: Stored | undefined;
}

interface Holder {
  until: number;
}

interface Ended {
  readonly turn: number;
  readonly record: EndedJob;
  readonly isHeld: boolean;
}

interface Stage {
  readonly bytes: Uint8Array;
  readonly at: number;
  isAdopted: boolean;
}

/** What all openings share. */
class Tables {
  readonly unfinished = new Map<string, Unfinished>();
  readonly ended = new Map<string, Ended>();
  readonly stages = new Map<string, Stage>();
  readonly notes = new Map<string, Note>();
  closed = false;

  adopt(stored: Stored | undefined): void {
    if (stored !== undefined && "stage" in stored) {
      const stage = this.stages.get(stored.stage);
      if (stage !== undefined) stage.isAdopted = true;
    }
  }

  /** Drops bytes, unless one of the others is the same. */
  drop(stored: Stored | undefined, ...kept: (Stored | undefined)[]): void {
    if (stored === undefined || "inline" in stored) return;
    const isKept = kept.some((other) =>
      other !== undefined && "stage" in other && other.stage === stored.stage
    );
    if (!isKept) this.stages.delete(stored.stage);
  }

  take(notes: readonly Note[]): void {
    for (const note of notes) {
      const before = this.notes.get(nameOf(note));
      if (before === undefined || "until" in before && before.until < Date.now()) continue;
      if (isReplaced(before, note)) continue;
      throw new SvcError("nonce" in note ? "nonce_reused" : "idempotency_in_progress");
    }
    for (const note of notes) {
      const { replaces: _, ...kept }: Note & { readonly replaces?: Uint8Array } = note;
      this.notes.set(nameOf(note), structuredClone(kept));
    }
  }
}

/** Whether a note says that it takes the place of the one that is there. */
function isReplaced(before: Note, note: Note): boolean {
  if ("nonce" in note || "nonce" in before) return false;
  return note.replaces !== undefined && note.replaces.toHex() === before.answer.toHex();
}

function nameOf(note: Note): string {
  if ("nonce" in note) return `nonce ${note.nonce.toHex()}`;
  return "text" in note ? `text ${note.text.toHex()}` : `key ${note.idempotency.toHex()}`;
}

function leaseIsOver(): SvcError {
  return new SvcError("internal_error", "The job has ended, or was taken over");
}

/** Jobs that nothing keeps: the reference of the conformance suite. */
export function memoryJobs(): MemoryJobs {
  const tables = new Tables();
  return {
    open: ({ leaseMs = 30_000 } = {}) => openStore(tables, leaseMs),
    letGo(owner) {
      for (const row of tables.unfinished.values()) {
        if (row.job.owner === owner) row.holder = { until: -Infinity };
      }
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function openStore(tables: Tables, leaseMs: number): JobStore {
  const gate = new Gate("storage_unavailable");
  const me: Holder = { until: Date.now() + leaseMs };
  return {
    isShared: true,
    ...stagedBytes(tables, gate),
    ...notes(tables, gate),
    ...leases(tables, gate, me, leaseMs),
    ...work(tables, gate, me),
    ...records(tables, gate),
    ...changes(tables, gate, me),
    async [Symbol.asyncDispose]() {
      await gate[Symbol.asyncDispose]();
      me.until = -Infinity;
    },
  };
}

function stagedBytes(tables: Tables, gate: Gate): Pick<JobStore, "stage" | "read" | "sweep"> {
  return {
    async stage(bytes, inlineBytes = 16_384) {
      const copy = bytes.slice();
      await gate.pass();
      if (copy.length <= inlineBytes) return { inline: copy };
      const stage = crypto.randomUUID();
      tables.stages.set(stage, { bytes: copy, at: Date.now(), isAdopted: false });
      return { stage, chunks: 1 };
    },
    async read(stored) {
      await gate.pass();
      return "inline" in stored ? stored.inline : tables.stages.get(stored.stage)?.bytes.slice();
    },
    async sweep(stagedBefore, notedBefore) {
      await gate.pass();
      const gone = [...tables.stages].filter(([, { at, isAdopted }]) =>
        !isAdopted && at < stagedBefore
      );
      for (const [stage] of gone) tables.stages.delete(stage);
      for (const [name, note] of tables.notes) {
        if (("until" in note ? note.until : note.at) < notedBefore) tables.notes.delete(name);
      }
      return gone.length;
    },
  };
}

function notes(
  tables: Tables,
  gate: Gate,
): Pick<JobStore, "answerTo" | "idempotent" | "notes"> {
  return {
    async *notes() {
      await gate.pass();
      yield* structuredClone([...tables.notes.values()]);
    },
    async answerTo(text) {
      await gate.pass();
      const note = tables.notes.get(`text ${text.toHex()}`);
      return note !== undefined && "text" in note ? note.answer : undefined;
    },
    async idempotent(key): Promise<IdempotentAnswer | undefined> {
      await gate.pass();
      const note = tables.notes.get(`key ${key.toHex()}`);
      if (note === undefined || !("idempotency" in note)) return undefined;
      const { body, answer, until } = note;
      return { body, answer, until };
    },
  };
}

/** An unfinished job, if the lease is still good. */
function held(tables: Tables, me: Holder, { jobId, turn }: Lease): Unfinished {
  const found = tables.unfinished.get(jobId);
  if (found?.holder !== me || found.turn !== turn) throw leaseIsOver();
  return found;
}

function leases(
  tables: Tables,
  gate: Gate,
  me: Holder,
  leaseMs: number,
): Pick<JobStore, "claim" | "renew"> {
  return {
    async claim(limit, owner) {
      await gate.pass();
      const now = Date.now();
      const isFree = ({ holder, job }: Unfinished) =>
        owner === undefined ? holder.until <= now : job.owner === owner;
      const free = [...tables.unfinished.values()]
        .filter((row) => row.holder !== me && isFree(row))
        .sort((a, b) => a.job.acceptedAt - b.job.acceptedAt)
        .slice(0, limit);
      return free.map((row): HeldJob => {
        row.holder = me;
        const lease = { jobId: row.job.id, turn: ++row.turn };
        return {
          job: row.job,
          lease,
          ...(row.progress === undefined ? {} : { progress: row.progress }),
          ...(row.step === undefined ? {} : { step: row.step }),
        };
      });
    },
    async renew() {
      await gate.pass();
      const now = Date.now();
      const hadIt = me.until > now;
      me.until = now + leaseMs;
      return hadIt;
    },
  };
}

function work(
  tables: Tables,
  gate: Gate,
  me: Holder,
): Pick<JobStore, "accept" | "progress" | "saveStep" | "end"> {
  return {
    async accept(jobs, brought) {
      const copies = structuredClone(jobs);
      await gate.pass();
      tables.take(brought);
      return copies.map((job) => {
        tables.adopt(job.payload);
        const fresh = { job, holder: me, turn: 1, progress: undefined, step: undefined };
        tables.unfinished.set(job.id, fresh);
        return { jobId: job.id, turn: 1 };
      });
    },
    async progress(lease, progress) {
      await gate.pass();
      held(tables, me, lease).progress = { ...progress };
    },
    async saveStep(lease, step) {
      await gate.pass();
      const row = held(tables, me, lease);
      tables.adopt(step);
      tables.drop(row.step, step);
      row.step = structuredClone(step);
    },
    async end(lease, ended) {
      await gate.pass();
      const { job, step, turn } = held(tables, me, lease);
      tables.drop(job.payload, ended.payload);
      tables.drop(step, ended.step);
      tables.unfinished.delete(lease.jobId);
      tables.ended.set(ended.id, { record: structuredClone(ended), turn, isHeld: isHeld(ended) });
    },
  };
}

function records(
  tables: Tables,
  gate: Gate,
): Pick<JobStore, "ended" | "isUnfinished" | "endedBefore" | "held"> {
  const inScope = (record: EndedJob, { owner, namespace }: Scope, memoryId?: string) =>
    record.owner === owner && record.namespace === namespace &&
    (memoryId === undefined || record.memoryId === memoryId);
  return {
    async ended(id) {
      await gate.pass();
      return structuredClone(tables.ended.get(id)?.record);
    },
    async isUnfinished(id) {
      await gate.pass();
      return tables.unfinished.has(id);
    },
    async endedBefore(time, limit) {
      await gate.pass();
      return [...tables.ended.values()].map(({ record }) => record)
        .filter(({ endedAt, expired }) => endedAt < time && !expired)
        .sort((a, b) => a.endedAt - b.endedAt).slice(0, limit);
    },
    async held(scope, memoryId) {
      await gate.pass();
      return [...tables.ended.values()]
        .filter(({ record, isHeld }) => isHeld && inScope(record, scope, memoryId))
        .map(({ record }) => record);
    },
  };
}

function changes(
  tables: Tables,
  gate: Gate,
  me: Holder,
): Pick<JobStore, "replace" | "forget" | "retry"> {
  const current = ({ id, endedAt }: EndedJob): Ended | undefined => {
    const found = tables.ended.get(id);
    return found?.record.endedAt === endedAt ? found : undefined;
  };
  return {
    async replace(ended, letGo = false) {
      await gate.pass();
      const before = current(ended);
      if (before === undefined) return;
      tables.drop(before.record.payload, ended.payload, ended.step);
      tables.drop(before.record.step, ended.payload, ended.step);
      const { turn } = before;
      const record = structuredClone(ended);
      tables.ended.set(ended.id, { record, turn, isHeld: !letGo && isHeld(ended) });
    },
    async forget(ended) {
      await gate.pass();
      const before = current(ended);
      if (before === undefined) return;
      tables.drop(before.record.payload);
      tables.drop(before.record.step);
      tables.ended.delete(ended.id);
    },
    async retry(ended, progress, brought) {
      await gate.pass();
      const before = current(ended);
      const payload = before?.record.payload;
      if (payload === undefined) throw new SvcError("job_not_retryable");
      tables.take(brought);
      const job = acceptedJob(before!.record, payload);
      const turn = before!.turn + 1;
      const { step } = before!.record;
      tables.ended.delete(ended.id);
      tables.unfinished.set(job.id, { job, holder: me, turn, progress: { ...progress }, step });
      return { jobId: job.id, turn };
    },
  };
}
