import type { AcceptedJob, EndedJob, HeldJob, Progress } from "../interfaces/mod.ts";
import { type KvWriter, liveBytes, type Mutation, type Staging, type Stored } from "./staging.ts";

const PAGES = { batchSize: 500 };

/** Values of a table's keys `[kind, id]`. */
async function valuesOf<T>(kv: Deno.Kv, kind: string): Promise<Map<string, T>> {
  const values = new Map<string, T>();
  for await (const { key, value } of kv.list<T>({ prefix: [kind] }, PAGES)) {
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
  turn: number,
): Promise<HeldJob[]> {
  const progress = await valuesOf<Progress>(kv, "progress");
  const steps = await valuesOf<Stored>(kv, "step");
  const jobs = new Map<string, HeldJob>();
  const gone: Mutation[] = [];
  await moveOlder(kv, writer);
  for await (const { value: job } of kv.list<AcceptedJob>({ prefix: ["live"] }, PAGES)) {
    const [how, step] = [progress.get(job.id), steps.get(job.id)];
    jobs.set(job.id, {
      job,
      lease: { jobId: job.id, turn },
      ...(how === undefined ? {} : { progress: how }),
      ...(step === undefined ? {} : { step }),
    });
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

/** Moves unfinished jobs of an older layout: under `job`, each with an entry `["due", time, id]`. */
async function moveOlder(kv: Deno.Kv, writer: KvWriter): Promise<void> {
  const due = await Array.fromAsync(kv.list({ prefix: ["due"] }, PAGES), ({ key }) => key);
  const move = async (key: Deno.KvKey): Promise<void> => {
    const place = ["job", String(key[2])];
    const { value } = await kv.get<AcceptedJob | EndedJob>(place);
    const moved: Mutation[] = value === null || "state" in value ? [] : [
      { key: ["live", value.id], value, bytes: liveBytes(value) },
      { key: place, remove: true },
    ];
    await writer.commit([...moved, { key, remove: true }]);
  };
  // A hundred at once, which the writer joins to few commits.
  for (let i = 0; i < due.length; i += 100) await Promise.all(due.slice(i, i + 100).map(move));
}
