import assert from "node:assert/strict";
import { givenUp } from "../../src/jobs/ended_jobs.ts";
import { verifies } from "../requirements.ts";
import { turns } from "../within.ts";
import { fakeKv, FakeTable, openGate } from "./fake_kv.ts";
import { jobOf, jobsOn, OWNER } from "./setup.ts";

Deno.test("a large result is read although another takes its place meanwhile", async () => {
  const reading = Promise.withResolvers<void>();
  let isHeld = false;
  const kv = fakeKv(new FakeTable(), async (name, work) => {
    if (name === "kv.list" && isHeld) {
      isHeld = false;
      await reading.promise;
    }
    return await openGate(name, work);
  });
  const { store } = jobsOn(kv);
  const [live] = await store.accept([jobOf()], []);
  await store.saveStep(live!, new Uint8Array(70_000).fill(1));
  isHeld = true;
  const read = store.loadStep(live!.job.id);
  await turns();
  await store.saveStep(live!, new Uint8Array(70_000).fill(2));
  reading.resolve();
  assert.equal((await read)?.[0], 2);
});

Deno.test("the result of a job whose row may be there is kept, and outlives the job", async () => {
  verifies("8-16");
  const { store, clock } = jobsOn(fakeKv(new FakeTable(), openGate));
  const [live] = await store.accept([jobOf()], []);
  const { id } = live!.job;
  await store.saveStep(live!, Uint8Array.of(5));
  live!.mayBeIndexed = true;
  await store.end(live!, givenUp(live!, "storage_failed"));
  const { live: again } = await store.retry(id, OWNER, () => ({
    answer: undefined,
    mutations: [],
  }));
  assert.deepEqual([again.mayBeIndexed, again.mayBeStored], [true, false]);
  await store.end(again, givenUp(again, "storage_failed"));
  clock.advance(1);
  assert.equal(await store.forget(clock.now()), 1);
  assert.equal(await store.get(id, OWNER), undefined);
  assert.deepEqual(await store.loadStep(id), Uint8Array.of(5));
});

Deno.test("a deleted job is held until the blob that it may have stored has a name", async () => {
  verifies("10.14-6");
  const { store, clock } = jobsOn(fakeKv(new FakeTable(), openGate));
  const [live] = await store.accept([jobOf()], []);
  const { id, memoryId, owner, namespace } = live!.job;
  const scope = { owner, namespace };
  await store.saveStep(live!, Uint8Array.of(5));
  live!.mayBeStored = true;
  await store.end(live!, { state: "failed", errorCode: "deleted" });
  const held = async () => (await store.heldOf(scope, memoryId)).map((job) => job.mayBeStored);
  assert.deepEqual(await held(), [true]);
  assert.equal(await store.loadStep(id), undefined);
  await store.discard(scope, [memoryId], new Set([memoryId]));
  clock.advance(1);
  assert.equal(await store.forget(clock.now()), 1);
  assert.deepEqual(await held(), [true], "it outlives its retention");
  await store.discard(scope, [memoryId]);
  assert.deepEqual(await held(), []);
});
