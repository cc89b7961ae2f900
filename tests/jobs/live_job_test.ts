import assert from "node:assert/strict";
import { LiveJob } from "../../src/jobs/job.ts";
import { jobOf } from "./setup.ts";

Deno.test("whoever asks before, while or after a job ends hears of its end", async () => {
  const live = new LiveJob(jobOf(), 0);
  const settled: LiveJob[] = [];
  live.onSettled = (job) => settled.push(job);
  const before = live.ended;
  let ended = false;
  void before.then(() => ended = true);
  live.markRecallable();
  await Promise.resolve();
  assert.equal(ended, false);
  live.markEnded("done", 5);
  await before;
  assert.equal(live.ended, before);
  assert.deepEqual(settled, [live]);

  const unasked = new LiveJob(jobOf(), 0);
  unasked.markEnded("failed", 5);
  await unasked.ended;
});
