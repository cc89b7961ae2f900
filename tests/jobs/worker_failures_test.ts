import assert from "node:assert/strict";
import { SvcError } from "../../src/errors.ts";
import type { LiveJob } from "../../src/jobs/live_job.ts";
import { StepError } from "../../src/jobs/worker.ts";
import { verifies } from "../requirements.ts";
import { fakeJobs, workerOn } from "./desk.ts";
import { fakeKv, FakeTable, openGate } from "./fake_kv.ts";
import { jobOf, type Jobs, jobsOn, OWNER } from "./setup.ts";

const temporary = (retryAfter?: number) =>
  new StepError(
    "storage_failed",
    new SvcError("storage_unavailable", undefined, retryAfter === undefined ? {} : { retryAfter }),
  );
const permanent = new StepError(
  "embedding_failed",
  new SvcError("embedding_unavailable", undefined, { retryable: false }),
);

/** Fails until `failures` are used up; answers how the job ended. */
async function run(jobs: Jobs, failures: Error[]): Promise<LiveJob> {
  const [live] = await jobs.store.accept([jobOf()], []);
  const worker = workerOn(jobs, {
    dispatch: { process: false, queue: false, sweeper: false },
    process: async ({ live }) => {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      live.markRecallable();
      await jobs.store.end(live, { state: "done" });
    },
  });
  worker.start();
  for (let i = 0; i < 10 && jobs.store.size > 0; i++) {
    worker.sweep();
    await worker.idle();
    jobs.clock.advance(3_600_000);
  }
  await worker.stop(0);
  return live!;
}

Deno.test("temporary errors are retried, the attempts limit ends that", async () => {
  verifies("8-11", "8-12");
  const jobs = fakeJobs();
  const good = await run(jobs, [temporary(), temporary()]);
  assert.equal(good.state, "done");
  assert.equal(good.attempts, 3);
  const bad = await run(jobs, [temporary(), temporary(), temporary(), temporary()]);
  assert.equal(bad.state, "failed");
  assert.equal(bad.attempts, 3);
  const view = await jobs.store.get(bad.job.id, OWNER);
  assert.equal(view?.errorCode, "storage_failed");
  const again = await jobs.store.retry(bad.job.id, OWNER, () => []);
  assert.equal(again.state, "pending");
});

Deno.test("a permanent error fails at once, an unknown one is retried", async () => {
  verifies("8-13");
  const jobs = fakeJobs();
  const bad = await run(jobs, [permanent]);
  assert.equal(bad.attempts, 1);
  assert.equal((await jobs.store.get(bad.job.id, OWNER))?.errorCode, "embedding_failed");
  const odd = await run(jobs, [new TypeError("a bug"), permanent]);
  assert.equal(odd.attempts, 2);
  assert.equal(odd.state, "failed");
});

Deno.test("between two tries the state stays running and says why", async () => {
  verifies("8-12", "8-22");
  const jobs = fakeJobs();
  const [live] = await jobs.store.accept([jobOf()], []);
  const worker = workerOn(jobs, { process: () => Promise.reject(temporary(120)) });
  worker.start();
  worker.notify([live!]);
  await worker.idle();
  assert.equal(live!.view().state, "running");
  assert.equal(live!.view().errorCode, "storage_failed");
  assert.equal(live!.due, jobs.clock.now() + 120_000);
  await worker.stop(0);
});

Deno.test("a state that could not be saved is tried again", async () => {
  let down = false;
  const kv = fakeKv(new FakeTable(), (name, work) => {
    if (down && name === "kv.commit") return Promise.reject(new Error("down"));
    return openGate(name, work);
  });
  const jobs = jobsOn(kv);
  const worker = workerOn(jobs, {
    dispatch: { process: false, queue: false, sweeper: true },
    process: async ({ live }) => {
      await jobs.store.end(live, { state: "done" });
    },
  });
  worker.start();
  await jobs.store.accept([jobOf()], []);
  down = true;
  worker.sweep();
  await worker.idle();
  assert.equal(jobs.store.size, 1);
  down = false;
  worker.sweep();
  await worker.idle();
  assert.equal(jobs.store.size, 0);
  await worker.stop(0);
});
