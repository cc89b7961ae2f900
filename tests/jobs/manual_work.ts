import { mock } from "node:test";
import { type Attempt, JobWorker, type JobWorkerOptions } from "../../src/jobs/worker.ts";
import { silentLogger } from "../../src/log.ts";
import { fakeKv, FakeTable, openGate } from "./fake_kv.ts";
import { jobsOn, type JobsSetup } from "./setup.ts";

/** Work that each test answers by hand. */
export class ManualWork {
  readonly started: string[] = [];
  readonly #open = new Map<string, PromiseWithResolvers<void>>();
  readonly attempts = new Map<string, Attempt>();

  readonly process = (attempt: Attempt): Promise<void> => {
    const { id } = attempt.live.job;
    this.started.push(id);
    this.attempts.set(id, attempt);
    const work = Promise.withResolvers<void>();
    this.#open.set(id, work);
    return work.promise;
  };

  finish(id: string): void {
    this.#open.get(id)!.resolve();
  }
}

/** A worker that its test starts and stops. */
export function workerOn(jobs: JobsSetup, options: Partial<JobWorkerOptions>): JobWorker {
  return new JobWorker(jobs.store, {
    process: () => Promise.resolve(),
    concurrency: 2,
    maxAttempts: 3,
    dispatch: { process: true, queue: false, sweeper: false },
    now: jobs.clock.now,
    random: () => 0,
    logger: silentLogger,
    ...options,
  });
}

/** Runs a test whose timers fire by `mock.timers.tick` alone. */
export async function withTimers(test: () => Promise<void>): Promise<void> {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    await test();
  } finally {
    mock.timers.reset();
  }
}

/** Stops a worker without a timer. */
export async function stopNow(worker: JobWorker): Promise<void> {
  const stopped = worker.stop(0);
  await turn();
  await stopped;
}

/** Lets everything run that can run without a timer. */
export async function turn(): Promise<void> {
  for (let i = 0; i < 500; i++) await Promise.resolve();
}

/** Jobs on a table without a thread or a timer. */
export function fakeJobs(): JobsSetup {
  return jobsOn(fakeKv(new FakeTable(), openGate));
}
