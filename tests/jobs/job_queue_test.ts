import assert from "node:assert/strict";
import { JobQueue } from "../../src/jobs/job_queue.ts";
import { LiveJob } from "../../src/jobs/job.ts";
import { jobOf } from "./setup.ts";

const owner = (name: string) => `0x${name.repeat(64)}`;
const liveOf = (name: string, namespace = "default") =>
  new LiveJob(jobOf({ owner: owner(name), namespace }), 0);

Deno.test("a job that was urgent and comes again is taken once", () => {
  const queue = new JobQueue();
  const [again, other] = [liveOf("a", "first"), liveOf("a", "second")];
  queue.add(again);
  queue.add(other);
  queue.expedite(again.job);
  assert.equal(queue.size, 1);
  assert.equal(queue.nextUrgent(), again);
  // It failed, and its time has come once more.
  queue.add(again);
  assert.equal(queue.size, 2);
  assert.deepEqual(new Set([queue.next(), queue.next()]), new Set([again, other]));
  assert.equal(queue.next(), undefined);
  assert.equal(queue.nextUrgent(), undefined);
  assert.equal(queue.size, 0);
});

Deno.test("owners take turns around jobs that became urgent", () => {
  const queue = new JobQueue();
  const jobs = ["a", "a", "a", "b", "b"].map((name, i) => liveOf(name, i === 1 ? "hot" : "cold"));
  for (const live of jobs) queue.add(live);
  queue.expedite({ owner: owner("a"), namespace: "hot" });
  queue.expedite({ owner: owner("a"), namespace: "nobody's" });
  assert.equal(queue.size, 4);
  const taken = Array.from({ length: 4 }, () => queue.next());
  assert.deepEqual(taken, [0, 3, 2, 4].map((i) => jobs[i]));
  assert.equal(queue.nextUrgent(), jobs[1]);
  queue.add(jobs[0]!);
  queue.add(jobs[3]!);
  queue.expediteAll();
  assert.equal(queue.size, 0);
  assert.deepEqual([queue.nextUrgent(), queue.nextUrgent()], [jobs[0], jobs[3]]);
});
