import assert from "node:assert/strict";
import { mock } from "node:test";
import { SvcError } from "../../src/errors.ts";
import type { LiveJob } from "../../src/jobs/job.ts";
import { StepError } from "../../src/jobs/retries.ts";
import { verifies } from "../requirements.ts";
import type { Logger } from "../../src/log.ts";
import { fakeJobs, stopNow, turn, withTimers, workerOn } from "./manual_work.ts";
import { fakeKv, FakeTable, openGate } from "./fake_kv.ts";
import { jobOf, jobsOn, type JobsSetup, OWNER } from "./setup.ts";

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
async function run(jobs: JobsSetup, failures: Error[]): Promise<LiveJob> {
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
  const nothing = { answer: undefined, mutations: [] };
  const { live: again } = await jobs.store.retry(bad.job.id, OWNER, () => nothing);
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

/** Jobs on a table that takes no writes while `state.full`. */
function jobsOnDisk(state: { full: boolean; refused: number }): JobsSetup {
  return jobsOn(fakeKv(new FakeTable(), (name, work) => {
    if (!state.full || name !== "kv.commit") return openGate(name, work);
    state.refused++;
    return Promise.reject(new Error("database or disk is full"));
  }));
}

function noting(): { readonly lines: string[]; readonly logger: Logger } {
  const lines: string[] = [];
  const note = (message: string) => void lines.push(message);
  return { lines, logger: { debug: note, info: note, warn: note, error: note } };
}

Deno.test("a table that takes no writes uses up no tries, and is asked now and then", () =>
  withTimers(async () => {
    const disk = { full: false, refused: 0 };
    const jobs = jobsOnDisk(disk);
    const { lines, logger } = noting();
    const worker = workerOn(jobs, {
      logger,
      process: ({ live }) => jobs.store.end(live, { state: "done" }),
    });
    const accepted = await jobs.store.accept(Array.from({ length: 50 }, () => jobOf()), []);
    disk.full = true;
    worker.start();
    worker.notify(accepted);
    await turn();
    await worker.idle();
    // Both that were started, first together; nothing else until a pause has passed.
    assert.equal(disk.refused, 3);
    assert.equal(worker.free, false);
    for (let pauses = 1; pauses <= 40; pauses++) {
      mock.timers.tick(2_000);
      await turn();
      assert.equal(disk.refused, 3 + pauses);
    }
    assert.ok(accepted.every((live) => live.attempts === 0 && live.state === "pending"));
    assert.deepEqual(lines, ["jobs_held_back"]);
    disk.full = false;
    mock.timers.tick(2_000);
    await turn();
    await worker.idle();
    assert.ok(accepted.every((live) => live.attempts === 1 && live.state === "done"));
    assert.deepEqual(lines, ["jobs_held_back", "jobs_go_on"]);
    await stopNow(worker);
  }));

Deno.test("a failure that cannot be noted does not count", () =>
  withTimers(async () => {
    const disk = { full: false, refused: 0 };
    const jobs = jobsOnDisk(disk);
    const worker = workerOn(jobs, {
      process: ({ live }) => {
        if (!disk.full) return jobs.store.end(live, { state: "done" });
        return Promise.reject(temporary());
      },
    });
    const [live] = await jobs.store.accept([jobOf()], []);
    worker.start();
    for (let tries = 0; tries < 10; tries++) {
      if (tries === 0) worker.notify([live!]);
      else mock.timers.tick(2_000);
      // Room for the note that it is tried, none for what became of it.
      disk.full = false;
      await Promise.resolve();
      disk.full = true;
      await turn();
      assert.notEqual(live!.state, "failed");
      assert.ok(live!.attempts <= 1, `${live!.attempts}`);
    }
    disk.full = false;
    mock.timers.tick(2_000);
    await turn();
    assert.equal(live!.state, "done");
    await stopNow(worker);
  }));

Deno.test("a stop while the table takes no writes leaves nothing behind", async () => {
  const disk = { full: false, refused: 0 };
  const jobs = jobsOnDisk(disk);
  const { lines, logger } = noting();
  const work = Promise.withResolvers<void>();
  const worker = workerOn(jobs, { logger, process: () => work.promise });
  const [live] = await jobs.store.accept([jobOf()], []);
  worker.start();
  worker.notify([live!]);
  await turn();
  const stopped = worker.stop(60_000);
  disk.full = true;
  work.reject(temporary());
  await stopped;
  // A timer that is left would fail this test, too.
  assert.ok(!lines.includes("jobs_held_back"));
  assert.equal(jobs.store.size, 1);
});

Deno.test("a job that was put off is not held back by a message that cannot be sent", () =>
  withTimers(async () => {
    const jobs = fakeJobs();
    const { lines, logger } = noting();
    const worker = workerOn(jobs, {
      logger,
      process: () => Promise.reject(temporary(120)),
      wakeAfter: () => Promise.reject(new Error("database or disk is full")),
    });
    const [live] = await jobs.store.accept([jobOf()], []);
    worker.start();
    worker.notify([live!]);
    await turn();
    mock.timers.tick(119_000);
    await turn();
    assert.equal(live!.attempts, 1);
    mock.timers.tick(1_000);
    await turn();
    assert.equal(live!.attempts, 2);
    assert.deepEqual(lines, ["job_attempt_failed", "job_attempt_failed"]);
    await stopNow(worker);
  }));
