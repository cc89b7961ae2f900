import { AcceptBurst } from "./accept_burst.ts";
import type { RelayerConfig } from "../interfaces/config.ts";
import type { AcceptedJob, ExpiryStore, StateStore, Stored } from "../interfaces/mod.ts";
import type { Sealer } from "../interfaces/plugin.ts";
import { within } from "../deadline.ts";
import { Expiries } from "./expiries.ts";
import { Jobs } from "./jobs.ts";
import { KvJobStore } from "./kv_job_store.ts";
import { type Replay, ReplayStore } from "./replay.ts";
import { SharedReplay } from "./shared_replay.ts";
import { INLINE_BYTES, KvWriter, Staging } from "./staging.ts";

/** Keeps large bytes until something refers to them. */
interface Stages {
  put(bytes: Uint8Array, inlineBytes?: number): Promise<Stored>;
  /** Drops what nothing refers to. */
  sweep(): Promise<unknown>;
}

/** Where accepted work is kept until it is done. */
export interface JobTables {
  readonly staging: Stages;
  readonly jobs: Jobs;
  readonly replay: Replay;
  readonly expiries: ExpiryStore;
  /** Whether accepts come in a burst. */
  readonly isBursting: () => boolean;
  /** Whether the tables can be read, and written where a write failed before. */
  readonly answers: (withinMs: number) => Promise<boolean>;
  /** Does something while nothing is written to the tables' file. */
  readonly hold: <T>(work: () => Promise<T>) => Promise<T>;
  /** To be called when a queue message came. */
  readonly woken: () => void;
}

/** What the tables of jobs stand on. */
interface JobGround {
  readonly config: RelayerConfig;
  /** Tells requests apart that came before. */
  readonly hmac: (data: string | Uint8Array) => Uint8Array;
  /** Seals kept answers under a secret. */
  readonly sealer: (secret?: string) => Sealer;
  /** Tells whether the payload of a job can be opened now. */
  readonly payloadKeys: { isOpen(job: AcceptedJob): boolean };
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

function jobsOptions({ config, payloadKeys, now }: JobGround) {
  const isOpen = (job: AcceptedJob) => payloadKeys.isOpen(job);
  return { maxPending: config.maxPendingJobs, isOpen, now };
}

function replayOptions({ config, now, hmac, sealer }: JobGround) {
  return { now, hmac, sealer, idempotencyHours: config.idempotencyHours };
}

/** Opens the tables of a `jobs.kv`, which stays the caller's. */
export function openJobTables(ground: JobGround & { readonly kv: Deno.Kv }): JobTables {
  const { kv, config, now } = ground;
  const writer = new KvWriter(kv, { wakeUps: config.dispatch.queue, now });
  const staging = new Staging(kv, writer, now);
  const store = new KvJobStore(kv, writer, staging);
  return {
    staging,
    jobs: new Jobs(store, jobsOptions(ground)),
    replay: new ReplayStore(kv, writer, replayOptions(ground)),
    expiries: new Expiries(kv, writer),
    isBursting: () => writer.bursting,
    answers: (withinMs) => kvAnswers(kv, writer, withinMs),
    hold: (work) => writer.hold(work),
    woken: () => writer.woken(),
  };
}

/** A table that refused the last write is tested with a write: it may still be readable. */
async function kvAnswers(kv: Deno.Kv, writer: KvWriter, withinMs: number): Promise<boolean> {
  const key = ["health"];
  if (!writer.failing) return await isDone(kv.get(key), withinMs);
  // As much as a request may bring along: a smaller one could still fit on a full disk.
  const value = new Uint8Array(INLINE_BYTES);
  const written = await isDone(writer.commit([{ key, value, bytes: value.length }]), withinMs);
  if (written) void writer.commit([{ key, remove: true }]).catch(() => {});
  return written;
}

async function isDone(call: Promise<unknown>, withinMs: number): Promise<boolean> {
  return await within(withinMs, call.then(() => true, () => false)) ?? false;
}

/** What nothing refers to is kept so long, milliseconds: a request may be about to. */
const STAGED_MS = 3_600_000;
/** Nonces and texts are remembered for so long at least, milliseconds. */
const NOTED_MS = 1_200_000;

/** Opens the tables of a store that several relayers share, which stays the caller's. */
export function openSharedTables(ground: JobGround & { readonly store: StateStore }): JobTables {
  const { store: { jobs: store, expiries }, now } = ground;
  const burst = new AcceptBurst();
  return {
    staging: {
      put: (bytes, inlineBytes) => store.stage(bytes, inlineBytes),
      sweep: () => store.sweep(now() - STAGED_MS, now() - NOTED_MS),
    },
    jobs: new Jobs(store, { ...jobsOptions(ground), burst }),
    replay: new SharedReplay(store, replayOptions(ground)),
    expiries,
    isBursting: () => burst.isOn,
    answers: (withinMs) => isDone(store.isUnfinished(NO_JOB), withinMs),
    hold: (work) => work(),
    woken() {},
  };
}

/** Id of no job. */
const NO_JOB = "00000000-0000-0000-0000-000000000000";
