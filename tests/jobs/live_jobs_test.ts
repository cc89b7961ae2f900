import assert from "node:assert/strict";
import { LiveJob } from "../../src/jobs/job.ts";
import { LiveJobs } from "../../src/jobs/live_jobs.ts";
import { jobOf } from "./setup.ts";

Deno.test("a job is taken up once, and rests again unless it has ended", () => {
  const jobs = new LiveJobs();
  const [first, second] = [new LiveJob(jobOf(), 0), new LiveJob(jobOf(), 0)];
  jobs.add(first);
  jobs.add(second);
  assert.deepEqual([...jobs.atRest], [first, second]);
  assert.ok(jobs.takeUp(first));
  assert.ok(!jobs.takeUp(first));
  assert.deepEqual([...jobs.atRest], [second]);
  jobs.putDown(first);
  assert.deepEqual([...jobs.atRest], [second, first]);
  jobs.takeUp(first);
  jobs.remove(first);
  jobs.putDown(first);
  jobs.remove(second);
  assert.equal(jobs.atRest.size, 0);
  assert.ok(!jobs.takeUp(second));
});

Deno.test("a job that was retried stands for the one before, which still unwinds", () => {
  const jobs = new LiveJobs();
  const job = jobOf();
  const before = jobs.add(new LiveJob(job, 0));
  jobs.takeUp(before);
  jobs.remove(before);
  const again = jobs.add(new LiveJob(job, 5));
  jobs.putDown(before);
  assert.deepEqual([...jobs.atRest], [again]);
});

Deno.test("only jobs that may change what is there are looked through for changes", () => {
  const jobs = new LiveJobs();
  const add = (more: Partial<ReturnType<typeof jobOf>>) =>
    jobs.add(new LiveJob({ ...jobOf(), source: "remember", ...more }, 0));
  const proposes = ["repetition"] as const;
  const plain = add({ proposes });
  const links = [{ id: "a", kind: "supersedes", by: "caller", score: 1 }] as const;
  const changing = [add({ version: 2, proposes }), add({ proposes, standing: { links } }), add({})];
  const scope = plain.job;
  assert.deepEqual([...jobs.changingIn(scope)], changing);
  assert.deepEqual([...jobs.changingIn({ ...scope, namespace: "another" })], []);
  for (const live of [plain, ...changing]) jobs.remove(live);
  assert.deepEqual([...jobs.changingIn(scope)], []);
});
