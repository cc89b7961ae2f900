import assert from "node:assert/strict";
import { mock } from "node:test";
import { SvcError } from "../../src/errors.ts";
import type { LiveJob } from "../../src/jobs/job.ts";
import { StepError } from "../../src/jobs/retries.ts";
import { verifies } from "../requirements.ts";
import { fakeJobs, ManualWork, stopNow, turn, withTimers, workerOn } from "./manual_work.ts";
import { jobOf, jobsOn, type JobsSetup, keysOf, OWNER } from "./setup.ts";

const temporary = (retryAfter: number) =>
  new StepError(
    "embedding_failed",
    new SvcError("embedding_unavailable", undefined, { retryAfter }),
  );

/** A start on the same table: what the process before held is forgotten. */
async function startOn(
  jobs: JobsSetup,
): Promise<{ readonly next: JobsSetup; readonly left: LiveJob[] }> {
  const next = jobsOn(jobs.kv, jobs.clock);
  return { next, left: await next.store.recover("m") };
}

/** A start that has begun to work on what was left, and ends nothing of it. */
async function startWorking(jobs: JobsSetup) {
  const { next, left } = await startOn(jobs);
  const manual = new ManualWork();
  const worker = workerOn(next, { process: manual.process });
  worker.start();
  worker.resume(left);
  await turn();
  return { next, left, manual, worker };
}

/** A start that works on everything until it is stopped. */
async function stopWhileRunning(jobs: JobsSetup): Promise<void> {
  const { left, manual, worker } = await startWorking(jobs);
  assert.equal(manual.started.length, left.length);
  await worker.stop(0);
}

/** A start that works on everything until its process is killed. */
async function killWhileRunning(jobs: JobsSetup): Promise<string[]> {
  return (await startWorking(jobs)).manual.started;
}

Deno.test("a stop uses up no try", async () => {
  verifies("8-14", "8-23");
  const jobs = fakeJobs();
  await jobs.store.accept([jobOf()], []);
  for (let stops = 0; stops < 5; stops++) await stopWhileRunning(jobs);
  const { next, left } = await startOn(jobs);
  assert.equal(left[0]?.attempts, 0);
  const worker = workerOn(next, { process: () => Promise.reject(temporary(60)) });
  worker.start();
  worker.resume(left);
  await worker.idle();
  assert.equal(left[0]?.ending, undefined, "put off, as after any first try");
  await worker.stop(0);
  // The try that failed counts, and the stop that came during the pause takes nothing back.
  jobs.clock.advance(60_000);
  await stopWhileRunning(jobs);
  const { left: [live] } = await startOn(jobs);
  assert.equal(live?.attempts, 1);
  assert.equal(live?.errorCode, "embedding_failed");
});

Deno.test("work that ends its job after a stop has put it down leaves nothing behind", async () => {
  const jobs = fakeJobs();
  const work = Promise.withResolvers<void>();
  const worker = workerOn(jobs, {
    process: async ({ live }) => {
      await work.promise;
      await jobs.store.end(live, { state: "done" });
    },
  });
  const [live] = await jobs.store.accept([jobOf()], []);
  worker.start();
  worker.notify([live!]);
  await turn();
  await worker.stop(0);
  work.resolve();
  await worker.putDown();
  assert.equal((await jobs.store.get(live!.job.id, OWNER))?.attempts, 1);
  assert.deepEqual((await keysOf(jobs.kv)).map(([kind]) => kind).sort(), ["ended", "job"]);
});

Deno.test("a job that ends its process every time lets the others go first", () =>
  withTimers(async () => {
    verifies("8-14", "6-2");
    const jobs = fakeJobs();
    const [bad] = await jobs.store.accept([jobOf()], []);
    const { id } = bad!.job;
    for (let kills = 0; kills < 20; kills++) assert.deepEqual(await killWhileRunning(jobs), [id]);
    const [good] = await (await startOn(jobs)).next.store.accept([jobOf()], []);
    const { next, manual, worker } = await startWorking(jobs);
    assert.deepEqual(manual.started, [good!.job.id]);
    mock.timers.tick(600_000 - 1);
    await turn();
    assert.deepEqual(manual.started, [good!.job.id]);
    mock.timers.tick(1);
    await turn();
    assert.deepEqual(manual.started, [good!.job.id, id]);
    for (const started of manual.started) manual.finish(started);
    const view = await next.store.get(id, OWNER);
    assert.deepEqual([view?.state, view?.attempts], ["running", 21]);
    await stopNow(worker);
  }));

Deno.test("what was put off stays so over a restart, at most an hour", () =>
  withTimers(async () => {
    verifies("8-10", "8-23");
    const jobs = fakeJobs();
    const accepted = await jobs.store.accept([jobOf(), jobOf()], []);
    const [soon, late] = accepted.map((live) => live.job.id);
    await jobs.store.putOff(accepted[0]!, jobs.clock.now() + 60_000, "storage_failed");
    // As after a clock that was set back by a day.
    await jobs.store.putOff(accepted[1]!, jobs.clock.now() + 86_400_000, "storage_failed");
    const { next, left } = await startOn(jobs);
    const manual = new ManualWork();
    const worker = workerOn(next, { process: manual.process });
    worker.start();
    worker.resume(left);
    mock.timers.tick(59_999);
    await turn();
    assert.deepEqual(manual.started, []);
    mock.timers.tick(1);
    await turn();
    assert.deepEqual(manual.started, [soon]);
    mock.timers.tick(3_540_000);
    await turn();
    assert.deepEqual(manual.started, [soon, late]);
    for (const id of manual.started) manual.finish(id);
    await stopNow(worker);
  }));
