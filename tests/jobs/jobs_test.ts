import assert from "node:assert/strict";
import { SvcError } from "../../src/errors.ts";
import type { LiveJob } from "../../src/jobs/job.ts";
import { verifies } from "../requirements.ts";
import { fakeKv, FakeTable, openGate } from "./fake_kv.ts";
import { jobOf, jobsOn, keysOf, OWNER } from "./setup.ts";

const NONE = () => ({ answer: undefined, mutations: [] });
const SCOPE = { owner: OWNER, namespace: "default" };
/** Something that belongs to the same request. */
const EXTRA = { nonce: new Uint8Array(32), at: 1_000_000 };

Deno.test("jobs of one request and what belongs to them are one commit", async () => {
  verifies("6-5");
  let commits = 0;
  const table = new FakeTable();
  const kv = fakeKv(table, (name, work) => {
    if (name === "kv.commit") commits++;
    return openGate(name, work);
  });
  const { store } = jobsOn(kv);
  const jobs = Array.from({ length: 20 }, () => jobOf());
  const live = await store.accept(jobs, [EXTRA]);
  assert.equal(commits, 1);
  assert.equal(store.size, 20);
  assert.deepEqual(live.map((item) => item.view().state), Array(20).fill("pending"));
  assert.equal(table.keys("live").length, 20);
  assert.equal(table.keys("nonces").length, 1);
});

Deno.test("above maxPending nothing is accepted", async () => {
  verifies("6-3");
  using kv = await Deno.openKv(":memory:");
  const { store } = jobsOn(kv, undefined, 6);
  const [first] = await store.accept([jobOf(), jobOf()], []);
  const two = [jobOf(), jobOf()];
  await assert.rejects(store.accept(two, [EXTRA]), {
    code: "overloaded",
    status: 503,
  });
  assert.equal(store.size, 2);
  assert.deepEqual(await keysOf(kv, "nonces"), []);
  // Requests whose commits are on their way count.
  const results = await Promise.allSettled([store.accept([jobOf()], []), store.accept(two, [])]);
  assert.deepEqual(results.map(({ status }) => status), ["fulfilled", "rejected"]);
  await store.end(first!, { state: "done" });
  await store.accept([jobOf()], []);
});

Deno.test("an owner's unfinished jobs take at most half of what the others leave free", async () => {
  verifies("6-26");
  using kv = await Deno.openKv(":memory:");
  const { store } = jobsOn(kv, undefined, 100);
  const counts: number[] = [];
  const firsts: LiveJob[] = [];
  for (const name of ["ada", "bob", "eve"]) {
    const owner = `0x${name}`;
    for (let count = 0;; count++) {
      try {
        const [live] = await store.accept([jobOf({ owner })], []);
        if (count === 0) firsts.push(live!);
      } catch (error) {
        assert.equal(SvcError.from(error).code, "overloaded");
        counts.push(count);
        break;
      }
    }
  }
  assert.deepEqual(counts, [50, 25, 13]);
  await store.end(firsts[2]!, { state: "done" });
  await store.accept([jobOf({ owner: "0xeve" })], []);
  await assert.rejects(store.accept([jobOf({ owner: "0xeve" })], []), { code: "overloaded" });
});

Deno.test("a disk that refuses accepts nothing and leaves nothing behind", async () => {
  verifies("6-4");
  const table = new FakeTable();
  let full = true;
  const kv = fakeKv(table, (name, work) => {
    if (full) return Promise.reject(new Error("disk full"));
    return openGate(name, work);
  });
  const { store } = jobsOn(kv);
  const job = jobOf();
  await assert.rejects(store.accept([job], []), { code: "storage_unavailable", status: 503 });
  assert.equal(store.size, 0);
  assert.deepEqual(store.liveIn(SCOPE), []);
  assert.equal(table.rows.size, 0);
  full = false;
  await store.accept([job], []);
  assert.equal(store.size, 1);
});

Deno.test("claim, put off and end leave one record and nothing else", async () => {
  using kv = await Deno.openKv(":memory:");
  const { store, staging, clock } = jobsOn(kv);
  const payload = await staging.put(new Uint8Array(100_000));
  const [live] = await store.accept([jobOf({ payload })], []);
  await store.claim(live!);
  assert.equal(live!.view().state, "running");
  await store.saveStep(live!, new Uint8Array(100_000).fill(7));
  await store.putOff(live!, clock.now() + 5000, "storage_failed");
  assert.equal(live!.due, clock.now() + 5000);
  assert.equal(live!.view().errorCode, "storage_failed");
  assert.equal(live!.view().state, "running");
  clock.advance(5000);
  await store.claim(live!);
  live!.markRecallable();
  live!.blobId = "blob";
  await store.end(live!, { state: "done" });
  const view = await store.get(live!.job.id, OWNER);
  assert.equal(view?.state, "done");
  assert.equal(view?.attempts, 2);
  assert.equal(view?.blobId, "blob");
  assert.equal(view?.errorCode, undefined);
  const names = (await keysOf(kv)).map((key) => key[0]);
  assert.deepEqual(names.sort(), ["ended", "job"]);
  assert.equal(await store.get(live!.job.id, `0x${"ff".repeat(32)}`), undefined);
});

Deno.test("an unfinished job is recovered as it was", async () => {
  verifies("8-15");
  using kv = await Deno.openKv(":memory:");
  const before = jobsOn(kv);
  const jobs = Array.from({ length: 25 }, (_, i) => jobOf({ acceptedAt: 1_000_000 + i }));
  const accepted = await before.store.accept(jobs, []);
  const [first, second, third] = accepted;
  await before.store.claim(first!);
  await before.store.saveStep(first!, Uint8Array.of(9, 9));
  first!.markRecallable();
  await before.store.putOff(first!, before.clock.now() + 60_000, "storage_failed");
  await before.store.end(second!, { state: "done" });
  await before.store.claim(third!);

  const { store } = jobsOn(kv);
  const recovered = await store.recover("m");
  assert.equal(recovered.length, 24);
  assert.equal(store.size, 24);
  const view = store.live(first!.job.id)!.view();
  assert.equal(view.state, "running");
  assert.equal(view.attempts, 1);
  assert.equal(view.recallable, true);
  assert.equal(view.errorCode, "storage_failed");
  assert.equal(store.live(first!.job.id)!.due, before.clock.now() + 60_000);
  assert.deepEqual(await store.loadStep(first!.job.id), Uint8Array.of(9, 9));
  assert.equal(store.live(third!.job.id)!.attempts, 1);
  const times = recovered.map((live) => live.job.acceptedAt);
  assert.deepEqual(times, times.toSorted((a, b) => a - b));
});

Deno.test("a job that is indexed with another model's vectors is waited for again", async () => {
  using kv = await Deno.openKv(":memory:");
  const before = jobsOn(kv);
  const accepted = await before.store.accept([1, 2, 3].map(() => jobOf({})), []);
  for (const [i, model] of ["old", "new", undefined].entries()) {
    await before.store.claim(accepted[i]!);
    accepted[i]!.markRecallable(model);
    await before.store.putOff(accepted[i]!, before.clock.now() + 60_000, "storage_failed");
  }
  const { store } = jobsOn(kv);
  await store.recover("new");
  // An earlier version did not note the model.
  assert.deepEqual(accepted.map(({ job }) => store.live(job.id)!.recallable), [false, true, true]);
});

Deno.test("a job that was put off stays so, whether the answer came or not", async () => {
  const table = new FakeTable();
  let lost = false;
  const kv = fakeKv(table, async (name, work) => {
    const result = await openGate(name, work);
    if (lost && name === "kv.commit") throw new Error("the answer was lost");
    return result;
  });
  const { store, clock } = jobsOn(kv);
  const [live] = await store.accept([jobOf()], []);
  lost = true;
  await assert.rejects(store.putOff(live!, clock.now() + 9000, "storage_failed"));
  lost = false;
  assert.equal(live!.due, clock.now());
  const [again] = await jobsOn(kv).store.recover("m");
  assert.equal(again!.due, clock.now() + 9000);
  await store.end(live!, { state: "done" });
  assert.deepEqual(await jobsOn(kv).store.recover("m"), []);
  assert.deepEqual((await keysOf(kv)).map((key) => key[0]), ["ended", "job"]);
});

Deno.test("unfinished jobs of older tables are moved to their place", async () => {
  using kv = await Deno.openKv(":memory:");
  const before = jobsOn(kv, undefined, 600);
  const jobs = Array.from({ length: 230 }, () => jobOf());
  const [ended, claimed] = await before.store.accept(jobs, []);
  await before.store.end(ended!, { state: "done" });
  await before.store.claim(claimed!);
  // As they lay: among the ended ones, found by an entry for each.
  for await (const { key, value } of kv.list({ prefix: ["live"] })) {
    const id = String(key[1]);
    await kv.atomic().delete(key).set(["job", id], value).set(["due", 1_000_000, id], null)
      .commit();
  }
  await kv.set(["due", 1_000_000, ended!.job.id], null);

  const { store } = jobsOn(kv);
  const found = await store.recover("m");
  assert.deepEqual(found.map(({ job }) => job), jobs.slice(1));
  assert.equal(store.live(claimed!.job.id)?.attempts, 1);
  assert.equal((await store.get(ended!.job.id, OWNER))?.state, "done");
  assert.deepEqual(await keysOf(kv, "due"), []);
  assert.equal((await keysOf(kv, "live")).length, 229);
  assert.equal((await keysOf(kv, "job")).length, 1);
});

Deno.test("who ends a job first decides; nothing is written for it afterwards", async () => {
  using kv = await Deno.openKv(":memory:");
  const { store, clock } = jobsOn(kv);
  const [live] = await store.accept([jobOf()], []);
  await store.claim(live!);
  const saved = store.saveStep(live!, new Uint8Array(50_000));
  const deleted = store.end(live!, { state: "failed", errorCode: "deleted" });
  const done = store.end(live!, { state: "done" });
  const late = store.putOff(live!, clock.now() + 1000, "storage_failed");
  await assert.rejects(saved, { code: "internal_error" });
  await Promise.all([deleted, done, late]);
  const view = await store.get(live!.job.id, OWNER);
  assert.equal(view?.state, "failed");
  assert.equal(view?.errorCode, "deleted");
  assert.deepEqual((await keysOf(kv, "live")).length, 0);
  assert.deepEqual((await keysOf(kv, "step")).length, 0);
  assert.deepEqual((await keysOf(kv, "progress")).length, 0);
  // Chunks of a step that came too late are orphans.
  clock.advance(3_600_000);
  await jobsOn(kv, clock).staging.sweep();
  assert.deepEqual((await keysOf(kv, "chunk")).length, 0);
});

Deno.test("an end that is not written leaves the job unfinished", async () => {
  const table = new FakeTable();
  let down = false;
  const kv = fakeKv(table, (name, work) => {
    if (down) return Promise.reject(new Error("down"));
    return openGate(name, work);
  });
  const { store } = jobsOn(kv);
  const [live] = await store.accept([jobOf()], []);
  down = true;
  await assert.rejects(store.end(live!, { state: "done" }), { code: "storage_unavailable" });
  assert.equal(store.size, 1);
  down = false;
  await store.end(live!, { state: "failed", errorCode: "storage_failed" });
  assert.equal((await store.get(live!.job.id, OWNER))?.state, "failed");
});

Deno.test("a failed job is pending again after a retry, and keeps its sealed result", async () => {
  verifies("8-6");
  using kv = await Deno.openKv(":memory:");
  const { store, staging, clock } = jobsOn(kv);
  const payload = await staging.put(new Uint8Array(70_000));
  const [live] = await store.accept([jobOf({ payload })], []);
  const { id } = live!.job;
  await assert.rejects(store.retry(id, OWNER, NONE), { code: "job_not_retryable" });
  await store.claim(live!);
  await store.saveStep(live!, new Uint8Array(70_000).fill(3));
  live!.markRecallable();
  await store.end(live!, {
    state: "failed",
    errorCode: "storage_failed",
    keepPayload: true,
    keepStep: true,
  });
  assert.equal((await store.loadStep(id))?.length, 70_000);
  clock.advance(1000);
  const other = `0x${"ff".repeat(32)}`;
  await assert.rejects(store.retry(id, other, NONE), { code: "job_not_found" });
  const { answer: pending, live: again } = await store.retry(id, OWNER, (view) => ({
    answer: view,
    mutations: [EXTRA],
  }));
  assert.deepEqual(pending, again.view());
  assert.equal(again.view().state, "pending");
  assert.equal(again.view().attempts, 0);
  assert.equal(again.view().recallable, true);
  assert.equal(again.view().errorCode, undefined);
  assert.equal(again.view().updatedAt, clock.now());
  assert.equal((await keysOf(kv, "nonces")).length, 1);
  assert.equal((await store.payload(again)).length, 70_000);
  assert.equal((await store.loadStep(id))?.[0], 3);
  assert.equal(again.due, clock.now());

  const [recovered] = await jobsOn(kv, clock).store.recover("m");
  assert.equal(recovered?.view().recallable, true);
  assert.equal(recovered?.step !== undefined, true);

  await store.claim(again);
  await store.end(again, { state: "done" });
  assert.equal((await keysOf(kv, "chunk")).length, 0);
  await assert.rejects(store.retry(id, OWNER, NONE), { code: "job_not_retryable" });
});

Deno.test("two retries at once make one job", async () => {
  using kv = await Deno.openKv(":memory:");
  const { store } = jobsOn(kv);
  const [live] = await store.accept([jobOf()], []);
  await store.end(live!, { state: "failed", errorCode: "internal_error", keepPayload: true });
  const { id } = live!.job;
  const results = await Promise.allSettled([
    store.retry(id, OWNER, NONE),
    store.retry(id, OWNER, NONE),
  ]);
  assert.deepEqual(results.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  assert.equal(store.size, 1);
  assert.equal(store.liveIn(SCOPE).length, 1);
  await store.end(store.live(id)!, { state: "done" });
  assert.equal(store.liveIn(SCOPE).length, 0);
  assert.equal(await store.settle(SCOPE, 0), 0);
});

Deno.test("records go after their time, the only copy of a memory stays", async () => {
  using kv = await Deno.openKv(":memory:");
  const { store, staging, clock } = jobsOn(kv);
  const payload = await staging.put(new Uint8Array(70_000));
  const [done, failed, copy] = await store.accept(
    [jobOf(), jobOf({ payload }), jobOf()],
    [],
  );
  await store.end(done!, { state: "done" });
  await store.end(failed!, { state: "failed", errorCode: "embedding_failed", keepPayload: true });
  await store.claim(copy!);
  await store.saveStep(copy!, Uint8Array.of(5));
  copy!.markRecallable();
  await store.end(copy!, {
    state: "failed",
    errorCode: "storage_failed",
    keepPayload: true,
    keepStep: true,
  });
  assert.equal(await store.forget(clock.now()), 0);
  clock.advance(1);
  assert.equal(await store.forget(clock.now()), 3);
  for (const live of [done, failed, copy]) {
    assert.equal(await store.get(live!.job.id, OWNER), undefined);
    await assert.rejects(store.retry(live!.job.id, OWNER, NONE), { code: "job_not_found" });
  }
  assert.deepEqual(await store.loadStep(copy!.job.id), Uint8Array.of(5));
  assert.deepEqual((await keysOf(kv)).map((key) => key[0]).sort(), ["held", "job"]);
  await store.discard(SCOPE, [done!.job.id, copy!.job.id]);
  assert.deepEqual(await keysOf(kv), []);
});

Deno.test("a record that was retried outlives the time of its first end", async () => {
  using kv = await Deno.openKv(":memory:");
  const { store, clock } = jobsOn(kv);
  const [live] = await store.accept([jobOf()], []);
  const { id } = live!.job;
  await store.end(live!, { state: "failed", errorCode: "internal_error", keepPayload: true });
  const { live: again } = await store.retry(id, OWNER, NONE);
  clock.advance(1000);
  await store.end(again, { state: "done" });
  await store.forget(clock.now());
  assert.equal((await store.get(id, OWNER))?.state, "done");
});

Deno.test("discarded records say that they ended and cannot be retried", async () => {
  using kv = await Deno.openKv(":memory:");
  const { store, staging } = jobsOn(kv);
  const payload = await staging.put(new Uint8Array(70_000));
  const [live] = await store.accept([jobOf({ payload })], []);
  const { id } = live!.job;
  await store.discard(SCOPE, [id]);
  assert.equal((await store.payload(live!)).length, 70_000);
  await store.end(live!, { state: "failed", errorCode: "storage_failed", keepPayload: true });
  await store.discard(SCOPE, [id, "unknown"]);
  assert.equal((await store.get(id, OWNER))?.state, "failed");
  await assert.rejects(store.retry(id, OWNER, NONE), { code: "job_not_retryable" });
  assert.equal((await keysOf(kv, "chunk")).length, 0);
});

Deno.test("settle waits for the jobs of one scope only", async () => {
  verifies("10.6-28");
  using kv = await Deno.openKv(":memory:");
  const { store } = jobsOn(kv);
  const [a, b, other] = await store.accept(
    [jobOf(), jobOf(), jobOf({ namespace: "other" })],
    [],
  );
  assert.equal(await store.settle(SCOPE, 0), 2);
  assert.equal(await store.settle({ ...SCOPE, namespace: "empty" }, 60_000), 0);
  const settled = store.settle(SCOPE, 60_000);
  a!.markRecallable();
  await store.end(b!, { state: "failed", errorCode: "embedding_failed" });
  assert.equal(await settled, 0);
  assert.equal(other!.recallable, false);
  assert.equal(await store.settle({ ...SCOPE, namespace: "other" }, 1), 1);
});

Deno.test("settle waits for what was accepted before it, in whatever order that ends", async () => {
  using kv = await Deno.openKv(":memory:");
  const { store } = jobsOn(kv);
  const bytes = () => store.unsettledBytes(OWNER);
  const before = await store.accept(Array.from({ length: 5 }, () => jobOf()), []);
  const each = bytes() / 5;
  assert(each > 0);
  const settled = store.settle(SCOPE, 60_000);
  const soon = store.settle(SCOPE, 20);
  const [after] = await store.accept([jobOf()], []);
  for (const i of [3, 0, 4]) before[i]!.markRecallable();
  assert.equal(bytes(), 3 * each);
  assert.equal(await soon, 2);
  assert.equal(await store.settle(SCOPE, 0), 3);
  before[1]!.markRecallable();
  before[1]!.markRecallable();
  await store.end(before[2]!, { state: "failed", errorCode: "embedding_failed" });
  assert.equal(await settled, 0);
  assert.equal(after!.isSettled, false);
  assert.equal(bytes(), each);
  await store.end(after!, { state: "done" });
  assert.equal(await store.settle(SCOPE, 60_000), 0);
  assert.equal(bytes(), 0);
});
