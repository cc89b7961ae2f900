import { KvWriter, Staging } from "../../src/jobs/staging.ts";
import { Jobs } from "../../src/jobs/jobs.ts";
import { KvJobStore } from "../../src/jobs/kv_job_store.ts";
import type { AcceptedJob } from "../../src/jobs/job.ts";
import { TestClock } from "../relayer_fixture.ts";

/** Owner of the jobs of these tests, unless another is named. */
export const OWNER = `0x${"0a".repeat(32)}`;

let made = 0;

/** A small accepted job. */
export function jobOf(rest: Partial<AcceptedJob> = {}): AcceptedJob {
  const id = rest.id ?? `00000000-0000-4000-8000-${String(++made).padStart(12, "0")}`;
  return {
    id,
    memoryId: id,
    version: 1,
    accountId: `0x${"0b".repeat(32)}`,
    owner: OWNER,
    namespace: "default",
    source: "remember",
    createdAt: 1_000_000,
    acceptedAt: 1_000_000,
    importance: 0.5,
    bytes: 4,
    payload: { inline: Uint8Array.of(1, 2, 3) },
    ...rest,
  };
}

/** What the jobs of one process share. */
export interface JobsSetup {
  readonly kv: Deno.Kv;
  readonly clock: TestClock;
  readonly writer: KvWriter;
  readonly staging: Staging;
  readonly store: Jobs;
}

/** Jobs on a table; a second call on the same table is a restart. */
export function jobsOn(
  kv: Deno.Kv,
  clock: TestClock = stoppedClock(),
  maxPending = 100,
): JobsSetup {
  const writer = new KvWriter(kv, { wakeUps: false, now: clock.now });
  const staging = new Staging(kv, writer, clock.now);
  const store = new Jobs(new KvJobStore(kv, writer, staging), { maxPending, now: clock.now });
  return { kv, clock, writer, staging, store };
}

/** A clock that stands still at the time of {@linkcode jobOf}'s jobs. */
export function stoppedClock(): TestClock {
  const clock = new TestClock();
  clock.freeze(1_000_000);
  return clock;
}

/** Every key of a table. */
export async function keysOf(kv: Deno.Kv, ...prefix: Deno.KvKey): Promise<Deno.KvKey[]> {
  const keys: Deno.KvKey[] = [];
  for await (const { key } of kv.list({ prefix })) keys.push(key);
  return keys;
}
