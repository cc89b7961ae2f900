import { SvcError } from "../../errors.ts";
import { acceptedJob } from "../../interfaces/job_store.ts";
import type {
  AcceptedJob,
  EndedJob,
  HeldJob,
  JobStore,
  Lease,
  Note,
  Scope,
  Stored,
} from "../../interfaces/mod.ts";
import { scopeKey } from "../../interfaces/scope_key.ts";
import type { Place } from "./place.ts";
import { forEach } from "./parallel.ts";

/** More than there ever are: a job store answers all at once. */
const ALL = 2 ** 31 - 1;

/** Jobs of a place, by id. */
export interface JobsOfPlace {
  readonly unfinished: ReadonlyMap<string, HeldJob>;
  readonly ended: ReadonlyMap<string, EndedJob>;
  /** Ids of ended ones that are found by their memory. */
  readonly held: ReadonlySet<string>;
}

/** The bytes that a job refers to. */
export async function bytesOfJob(jobs: JobStore, stored: Stored): Promise<Uint8Array> {
  const bytes = await jobs.read(stored);
  if (bytes !== undefined) return bytes;
  throw new SvcError("storage_unavailable", "The payload of a job cannot be read");
}

/** All jobs of a place: of the owners whom the caller has, in these scopes. */
export async function readJobs(
  { jobs, shared }: Place,
  owners: readonly string[],
  scopes: readonly Scope[],
): Promise<JobsOfPlace> {
  const unfinished = shared === undefined
    ? await jobs.claim(ALL)
    : (await Promise.all(owners.map((owner) => jobs.claim(ALL, owner)))).flat();
  const found = await jobs.endedBefore(Number.MAX_SAFE_INTEGER, ALL);
  // Of a scope whose jobs all failed nothing else may be known.
  const places = [...scopes, ...found].map(({ owner, namespace }) =>
    [scopeKey({ owner, namespace }), { owner, namespace }] as const
  );
  const held: EndedJob[] = [];
  await forEach(new Map(places).values(), async (scope) => {
    held.push(...await jobs.held(scope));
  });
  const ended = [...found, ...held];
  return {
    unfinished: new Map(unfinished.map((one) => [one.job.id, one])),
    ended: new Map(ended.map((one) => [one.id, one])),
    held: new Set(held.map(({ id }) => id)),
  };
}

/** Puts bytes of a job where another store refers to them. */
async function copyStored(from: JobStore, to: JobStore, stored: Stored): Promise<Stored> {
  return await to.stage(await bytesOfJob(from, stored));
}

/** Accepts a job that is not there yet; else the lease on it that an earlier try left. */
async function leaseOn(
  to: JobStore,
  job: AcceptedJob,
  known: ReadonlyMap<string, HeldJob>,
): Promise<Lease> {
  const found = known.get(job.id);
  if (found !== undefined) return found.lease;
  return (await to.accept([job], []))[0]!;
}

/** Copies an ended job, with the bytes that are kept of it. */
async function copyEnded(
  { jobs: from }: Place,
  { jobs: to }: Place,
  record: EndedJob,
  { isHeld, known }: { readonly isHeld: boolean; readonly known: JobsOfPlace["unfinished"] },
): Promise<void> {
  if (await to.ended(record.id) !== undefined) return;
  const payload = record.payload && await copyStored(from, to, record.payload);
  const step = record.step && await copyStored(from, to, record.step);
  const job = acceptedJob(record, payload ?? { inline: new Uint8Array() });
  const lease = await leaseOn(to, job, known);
  // What a try before has accepted refers to other bytes.
  const { job: { payload: adopted } } = known.get(record.id) ?? { job };
  const ended = {
    ...record,
    ...(payload === undefined ? {} : { payload: adopted }),
    ...(step === undefined ? {} : { step }),
  };
  if (step !== undefined) await to.saveStep(lease, step);
  await to.end(lease, ended);
  const holds = payload !== undefined || step !== undefined || record.errorCode === "deleted";
  if (record.expired || holds && !isHeld) await to.replace(ended, !isHeld);
}

/** Copies a job that is not done yet: a relayer there goes on with it. */
async function copyUnfinished(
  { jobs: from }: Place,
  { jobs: to }: Place,
  { job, progress, step }: HeldJob,
  known: JobsOfPlace["unfinished"],
): Promise<void> {
  const payload = known.has(job.id) ? job.payload : await copyStored(from, to, job.payload);
  const lease = await leaseOn(to, { ...job, payload }, known);
  if (progress !== undefined) await to.progress(lease, progress);
  if (step !== undefined) await to.saveStep(lease, await copyStored(from, to, step));
}

/** Copies jobs that are not there yet; the owners must be the caller's in both places. */
export async function copyJobs(
  from: Place,
  to: Place,
  jobs: JobsOfPlace,
  known: JobsOfPlace["unfinished"],
): Promise<void> {
  await forEach(jobs.ended.values(), async (record) => {
    await copyEnded(from, to, record, { isHeld: jobs.held.has(record.id), known });
  });
  await forEach(jobs.unfinished.values(), (held) => copyUnfinished(from, to, held, known));
}

/** Errors of notes that are there already. */
const TAKEN: readonly string[] = ["nonce_reused", "idempotency_in_progress"];

/** Copies what requests used up or were answered. */
export async function copyNotes({ jobs: from }: Place, { jobs: to }: Place): Promise<void> {
  if (from.notes === undefined) return;
  await forEach(from.notes(), async (note: Note) => {
    await to.accept([], [note]).catch((error) => {
      if (!TAKEN.includes(SvcError.from(error).code)) throw error;
    });
  });
}
