import type { RelayerConfig } from "../interfaces/config.ts";
import type { Sealer } from "../interfaces/plugin.ts";
import { ReplayStore } from "./replay.ts";
import { KvWriter, Staging } from "./staging.ts";
import { Jobs } from "./jobs.ts";
import { KvJobStore } from "./kv_job_store.ts";

/** Where accepted work is kept until it is done. */
export interface JobTables {
  readonly writer: KvWriter;
  readonly staging: Staging;
  readonly jobs: Jobs;
  readonly replay: ReplayStore;
}

/** What the tables of jobs stand on. */
interface JobGround {
  readonly kv: Deno.Kv;
  readonly config: RelayerConfig;
  /** Tells requests apart that came before. */
  readonly hmac: (data: string | Uint8Array) => Uint8Array;
  /** Seals kept answers under a secret. */
  readonly sealer: (secret?: string) => Sealer;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Opens the tables of a `jobs.kv`, which stays the caller's. */
export function openJobTables({ kv, config, hmac, sealer, now }: JobGround): JobTables {
  const writer = new KvWriter(kv, { wakeUps: config.dispatch.queue, now });
  const staging = new Staging(kv, writer, now);
  const store = new KvJobStore(kv, writer, staging);
  const jobs = new Jobs(store, { maxPending: config.maxPendingJobs, now });
  const { idempotencyHours } = config;
  const replay = new ReplayStore(kv, writer, { now, hmac, sealer, idempotencyHours });
  return { writer, staging, jobs, replay };
}
