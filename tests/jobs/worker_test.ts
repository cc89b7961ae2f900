import assert from "node:assert/strict";
import { mock } from "node:test";
import { SvcError } from "../../src/errors.ts";
import type { LiveJob } from "../../src/jobs/job.ts";
import { backoff, StepError } from "../../src/jobs/retries.ts";
import { verifies } from "../requirements.ts";
import { fakeJobs, ManualWork, stopNow, turn, withTimers, workerOn } from "./manual_work.ts";
import { fakeKv, FakeTable, openGate } from "./fake_kv.ts";
import { jobOf, jobsOn } from "./setup.ts";

Deno.test("backoff goes from 2 s to 10 min, with jitter, and honours Retry-After", () => {
  verifies("8-10");
  for (let attempts = 1; attempts <= 60; attempts++) {
    const [least, most] = [backoff(attempts, 0), backoff(attempts, 0.999999)];
    assert.ok(least >= 2_000 && most <= 600_000, `${attempts}: ${least} to ${most}`);
    assert.ok(most > least * 1.4);
    assert.ok(backoff(attempts + 1, 0) >= least);
    if (attempts <= 7) assert.equal(least, 2_000 * 2 ** (attempts - 1));
  }
  assert.equal(backoff(1, 0, 30), 30_000);
  assert.equal(backoff(1, 0, 1), 2_000);
  assert.equal(backoff(1, 0, 1e12), 3_600_000);
});

Deno.test("no more jobs than allowed run at once; release makes room for the next", async () => {
  const jobs = fakeJobs();
  const manual = new ManualWork();
  const worker = workerOn(jobs, { process: manual.process });
  worker.start();
  assert.equal(worker.free, true);
  const accepted = await jobs.store.accept(Array.from({ length: 5 }, () => jobOf()), []);
  const ids = accepted.map((live) => live.job.id);
  worker.notify(accepted);
  worker.notify(accepted);
  await turn();
  assert.deepEqual(manual.started, ids.slice(0, 2));
  assert.equal(worker.free, false);
  const first = manual.attempts.get(ids[0]!)!;
  first.release();
  first.release();
  await turn();
  assert.deepEqual(manual.started, ids.slice(0, 3));
  manual.finish(ids[0]!);
  await turn();
  assert.deepEqual(manual.started, ids.slice(0, 3));
  manual.finish(ids[1]!);
  manual.finish(ids[2]!);
  await turn();
  assert.deepEqual(manual.started, ids);
  let idle = false;
  const waiting = worker.idle().then(() => idle = true);
  await turn();
  assert.equal(idle, false);
  manual.finish(ids[3]!);
  manual.finish(ids[4]!);
  await waiting;
  await worker.stop(0);
});

Deno.test("uploads that hang hold up later jobs only when there are many", async () => {
  const jobs = jobsOn(fakeKv(new FakeTable(), openGate), undefined, 1000);
  const manual = new ManualWork();
  const worker = workerOn(jobs, {
    process: (attempt) => {
      attempt.release();
      return manual.process(attempt);
    },
  });
  worker.start();
  // 64 MiB of payloads may wait for the store.
  const bytes = 1024 * 1024;
  const accepted = await jobs.store.accept(Array.from({ length: 100 }, () => jobOf({ bytes })), []);
  worker.notify(accepted);
  await turn();
  assert.equal(manual.started.length, 64);
  for (const live of accepted) {
    await turn();
    manual.finish(live.job.id);
  }
  await worker.idle();
  await worker.stop(0);
});

Deno.test("owners are served in turn", async () => {
  const jobs = fakeJobs();
  const manual = new ManualWork();
  const worker = workerOn(jobs, { process: manual.process, concurrency: 1 });
  const ownersOf = ["a", "a", "a", "a", "b", "b", "c"];
  const made = ownersOf.map((owner) => jobOf({ owner: `0x${owner.repeat(64)}` }));
  const accepted = await jobs.store.accept(made, []);
  worker.notify(accepted);
  await turn();
  assert.deepEqual(manual.started, []);
  worker.start();
  for (let i = 0; i < made.length; i++) {
    await turn();
    manual.finish(manual.started.at(-1)!);
  }
  await worker.idle();
  const served = manual.started.map((id) => made.find((job) => job.id === id)!.owner[2]);
  assert.deepEqual(served, ["a", "b", "c", "a", "b", "a", "a"]);
  await worker.stop(0);
});

Deno.test("jobs that somebody waits for go first, once, and leave the others' order", async () => {
  const jobs = fakeJobs();
  const manual = new ManualWork();
  const worker = workerOn(jobs, { process: manual.process, concurrency: 1 });
  const scopes = ["a first", "a other", "a second", "a first", "b other", "b first"];
  const scopeOf = (name: string) => {
    const [owner = "", namespace = ""] = name.split(" ");
    return { owner: `0x${owner.repeat(64)}`, namespace };
  };
  const made = scopes.map((name) => jobOf(scopeOf(name)));
  const accepted = await jobs.store.accept(made, []);
  const [a0, a1, a2, a3, b0, b1] = accepted as [
    LiveJob,
    LiveJob,
    LiveJob,
    LiveJob,
    LiveJob,
    LiveJob,
  ];
  worker.start();
  worker.notify(accepted);
  await turn();
  assert.deepEqual(manual.started, [a0.job.id]);
  // The first one runs, and one scope is named twice.
  for (const name of ["a first", "b first", "a second", "a first", "a none"]) {
    worker.expedite(scopeOf(name));
  }
  for (let i = 0; i < made.length; i++) {
    await turn();
    manual.finish(manual.started.at(-1)!);
  }
  await worker.idle();
  assert.deepEqual(manual.started, [a0, a3, b1, a2, b0, a1].map((live) => live.job.id));
  await worker.stop(0);
});

Deno.test("every job that was put off has its own timer", () =>
  withTimers(async () => {
    const jobs = fakeJobs();
    const started: string[] = [];
    const worker = workerOn(jobs, {
      process: ({ live }) => {
        started.push(live.job.id);
        if (live.attempts > 1) return jobs.store.end(live, { state: "done" });
        const retryAfter = live.job.importance;
        const error = new SvcError("storage_unavailable", undefined, { retryAfter });
        return Promise.reject(new StepError("storage_failed", error));
      },
    });
    worker.start();
    const [first, second] = await jobs.store.accept(
      [jobOf({ importance: 100 }), jobOf({ importance: 200 })],
      [],
    );
    worker.notify([first!, second!]);
    await turn();
    assert.equal(started.length, 2);
    // Elapsed time counts, not the clock: it stands still here.
    mock.timers.tick(100_000);
    await turn();
    assert.deepEqual(started.slice(2), [first!.job.id]);
    mock.timers.tick(100_000);
    await turn();
    assert.deepEqual(started.slice(3), [second!.job.id]);
    assert.equal(jobs.store.size, 0);
    await stopNow(worker);
  }));

Deno.test("a sweep starts due jobs only, and every one after the clock was set back", async () => {
  const jobs = fakeJobs();
  const [now, later] = await jobs.store.accept([jobOf(), jobOf()], []);
  await jobs.store.putOff(later!, jobs.clock.now() + 60_000, "storage_failed");
  const manual = new ManualWork();
  const worker = workerOn(jobs, {
    process: manual.process,
    dispatch: { process: false, queue: true, sweeper: true },
  });
  worker.start();
  worker.notify([now!, later!]);
  worker.sweep();
  await turn();
  assert.deepEqual(manual.started, [now!.job.id]);
  jobs.clock.advance(-86_400_000);
  worker.sweep();
  await turn();
  assert.deepEqual(manual.started, [now!.job.id, later!.job.id]);
  manual.finish(now!.job.id);
  manual.finish(later!.job.id);
  await worker.stop(1000);
});

Deno.test("a wake-up that overtakes the commit's answer is not lost", async () => {
  let held: PromiseWithResolvers<void> | undefined;
  let refused = false;
  const kv = fakeKv(new FakeTable(), async (name, work) => {
    if (name === "kv.commit") await held?.promise;
    if (refused) throw new Error("disk full");
    return await openGate(name, work);
  });
  const jobs = jobsOn(kv);
  const manual = new ManualWork();
  const worker = workerOn(jobs, {
    process: manual.process,
    dispatch: { process: false, queue: true, sweeper: false },
  });
  worker.start();
  held = Promise.withResolvers();
  const accepted = jobs.store.accept([jobOf()], []);
  await turn();
  worker.sweep();
  await turn();
  assert.deepEqual(manual.started, []);
  held.resolve();
  const [live] = await accepted;
  await turn();
  assert.deepEqual(manual.started, [live!.job.id]);
  manual.finish(live!.job.id);
  await worker.idle();

  // One whose commit is refused is never started.
  held = Promise.withResolvers();
  const late = jobs.store.accept([jobOf()], []);
  worker.sweep();
  refused = true;
  held.resolve();
  await assert.rejects(late);
  await worker.idle();
  assert.equal(manual.started.length, 1);
  await worker.stop(0);
});

Deno.test("a job that was cancelled while it waited is not started", async () => {
  const jobs = fakeJobs();
  const manual = new ManualWork();
  const worker = workerOn(jobs, { process: manual.process, concurrency: 1 });
  worker.start();
  const [first, second] = await jobs.store.accept([jobOf(), jobOf()], []);
  worker.notify([first!, second!]);
  await turn();
  await jobs.store.end(second!, { state: "failed", errorCode: "deleted" });
  manual.finish(first!.job.id);
  await worker.idle();
  assert.deepEqual(manual.started, [first!.job.id]);
  assert.equal(second!.attempts, 0);
  await worker.stop(0);
});

Deno.test("stop waits for running jobs, then puts down what takes longer", async () => {
  verifies("8-14");
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const jobs = fakeJobs();
    const manual = new ManualWork();
    const worker = workerOn(jobs, { process: manual.process });
    worker.start();
    const accepted = await jobs.store.accept([jobOf(), jobOf(), jobOf()], []);
    const [quick, slow, waiting] = accepted;
    worker.notify(accepted);
    await turn();
    let stopped = false;
    const stop = worker.stop(5000).then(() => stopped = true);
    manual.finish(quick!.job.id);
    await turn();
    assert.equal(stopped, false);
    assert.equal(manual.attempts.get(slow!.job.id)!.signal.aborted, false);
    // A backend that ignores the signal does not hold up the stop either.
    mock.timers.tick(5000);
    await stop;
    assert.equal(manual.attempts.get(slow!.job.id)!.signal.aborted, true);
    assert.equal(manual.started.includes(waiting!.job.id), false);
    assert.equal(worker.free, false);
    const recovered = await jobsOn(jobs.kv, jobs.clock).store.recover("m");
    assert.equal(recovered.some((live) => live.job.id === slow!.job.id), true);
    assert.equal(recovered.some((live) => live.job.id === waiting!.job.id), true);
  } finally {
    mock.timers.reset();
  }
});

Deno.test("a stop that comes while a job is being claimed does not wait for its work", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const held = Promise.withResolvers<void>();
    let holding = false;
    const kv = fakeKv(new FakeTable(), async (name, work) => {
      if (holding && name === "kv.commit") await held.promise;
      return await openGate(name, work);
    });
    const jobs = jobsOn(kv);
    const manual = new ManualWork();
    const worker = workerOn(jobs, { process: manual.process });
    worker.start();
    const accepted = await jobs.store.accept([jobOf()], []);
    holding = true;
    worker.notify(accepted);
    await turn();
    const stopped = worker.stop(0);
    mock.timers.tick(1);
    held.resolve();
    await stopped;
    assert.deepEqual(manual.started, []);
  } finally {
    mock.timers.reset();
  }
});
