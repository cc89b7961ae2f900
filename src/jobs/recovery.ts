import type { AcceptedJob, Progress } from "./job.ts";
import type { KvWriter, Mutation } from "./kv_writer.ts";
import { LiveJob } from "./live_job.ts";
import type { Staging, Stored } from "./staging.ts";

/** Deno KV reads at most 10 keys at once. */
const MANY = 10;

/** Values of a table's keys `[kind, id]`. */
async function valuesOf<T>(kv: Deno.Kv, kind: string): Promise<Map<string, T>> {
  const values = new Map<string, T>();
  for await (const { key, value } of kv.list<T>({ prefix: [kind] }, { batchSize: 500 })) {
    values.set(String(key[1]), value);
  }
  return values;
}

/**
 * Reads every unfinished job from the table, in the order of acceptance, and removes what commits
 * whose answers were lost may have left behind.
 */
export async function readUnfinished(
  kv: Deno.Kv,
  writer: KvWriter,
  staging: Staging,
): Promise<LiveJob[]> {
  const progress = await valuesOf<Progress>(kv, "progress");
  const steps = await valuesOf<Stored>(kv, "step");
  const due: Deno.KvKey[] = [];
  for await (const { key } of kv.list({ prefix: ["due"] }, { batchSize: 500 })) due.push(key);
  const jobs = new Map<string, LiveJob>();
  const gone: Mutation[] = [];
  for (let i = 0; i < due.length; i += MANY) {
    const part = due.slice(i, i + MANY);
    const records = await kv.getMany<AcceptedJob[]>(part.map((key) => ["job", String(key[2])]));
    for (const [n, key] of part.entries()) {
      const job = records[n]?.value;
      if (!job || "state" in job || jobs.has(job.id)) gone.push({ key, remove: true });
      else jobs.set(job.id, resumed(job, Number(key[1]), progress.get(job.id), steps.get(job.id)));
    }
  }
  for (const id of progress.keys()) {
    if (!jobs.has(id)) gone.push({ key: ["progress", id], remove: true });
  }
  for (const [id, step] of steps) {
    if (!jobs.has(id)) gone.push({ key: ["step", id], remove: true }, ...staging.discard(step));
  }
  for (let i = 0; i < gone.length; i += 400) await writer.commit(gone.slice(i, i + 400));
  return [...jobs.values()].sort((a, b) => a.job.acceptedAt - b.job.acceptedAt);
}

function resumed(
  job: AcceptedJob,
  due: number,
  progress: Progress | undefined,
  step: Stored | undefined,
): LiveJob {
  const live = new LiveJob(job, due);
  const { attempts = 0, errorCode, recallable = false } = progress ?? {};
  live.attempts = attempts;
  live.errorCode = errorCode;
  live.step = step;
  // Without a saved result nothing was stored yet.
  live.mayBeStored = step !== undefined;
  if (attempts > 0) live.state = "running";
  if (recallable) live.markRecallable();
  return live;
}
