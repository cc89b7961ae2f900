import assert from "node:assert/strict";
import { mock } from "node:test";
import { setImmediate } from "node:timers/promises";
import { memoryBlobStore } from "../../plugins/memory/blob_store.ts";
import { memoryVectorStore } from "../../plugins/memory/vector_store.ts";
import { SvcError } from "../../src/errors.ts";
import { withTimers } from "../jobs/manual_work.ts";
import { startRelayer, TestClock, type TestRelayer } from "../relayer_fixture.ts";
import { DurableRelayer } from "./durable.ts";
import { Gate, intercepted } from "./intercepted.ts";
import { poll } from "../within.ts";

const MINUTE = 60_000;
/** Turns of the event loop after which nothing more is expected. */
const MOST_TURNS = 3_000;

function inAMinute(clock: TestClock): { readonly expires_at: string } {
  return { expires_at: new Date(clock.now() + MINUTE).toISOString() };
}

/** Lets minutes pass until the stores hold so many rows and blobs of a namespace. */
async function untilLeft(svc: TestRelayer, count: number, namespace = "default"): Promise<void> {
  const { blobStore, vectorStore } = svc.backends;
  for (let turns = 0; turns < MOST_TURNS; turns++) {
    const { entries } = await vectorStore.scan({ owner: svc.owner, namespace });
    const blobs = await Array.fromAsync(blobStore.list({ owner: svc.owner, namespace }));
    if (entries.length === count && blobs.length === count) return;
    mock.timers.tick(MINUTE);
    await setImmediate();
  }
  assert.fail("memories that expired are still there");
}

Deno.test("an expired memory is deleted although nobody asks for it", () =>
  withTimers(async () => {
    const clock = new TestClock();
    await using svc = await startRelayer({ clock });
    await svc.remember("tea that ends", inAMinute(clock));
    const { expires_at } = inAMinute(clock);
    const vector = (await svc.post("/api/embed", { text: "tea" })).body.vector;
    const manual = { encrypted_data: btoa("sealed"), vector, expires_at };
    assert.equal((await svc.post("/api/remember/manual", manual)).status, 200);
    await svc.remember("tea that stays");
    await untilLeft(svc, 3);
    clock.advance(MINUTE);
    await untilLeft(svc, 1);
    assert.deepEqual(await svc.recall("tea"), ["tea that stays"]);
    // Nor does a restore bring it back.
    assert.equal((await svc.post("/api/restore", { namespace: "default" })).body.restored, 0);
  }));

Deno.test("what expires while nothing runs is deleted by the next start", async () => {
  const clock = new TestClock();
  await using durable = await DurableRelayer.start({ clock });
  await durable.svc.remember("tea that ends", inAMinute(clock));
  await durable.svc.remember("tea that ends elsewhere", { ...inAMinute(clock), namespace: "b" });
  await durable.svc.remember("tea that stays");
  const forgotten = await durable.svc.remember("tea that is deleted", inAMinute(clock));
  await durable.svc.send("DELETE", `/api/memories/${forgotten}`);
  clock.advance(MINUTE);
  await durable.cutPower();
  await untilSwept(durable.svc, 1, "default");
  await untilSwept(durable.svc, 0, "b");
});

/** Waits until the store holds so many rows of a namespace. */
async function untilSwept(svc: TestRelayer, count: number, namespace: string): Promise<void> {
  const scope = { owner: svc.owner, namespace };
  const rows = async () => (await svc.backends.vectorStore.scan(scope)).entries.length;
  await poll(rows, (number) => number === count);
}

Deno.test("a memory restored from its blob expires as well", async () => {
  const clock = new TestClock();
  await using durable = await DurableRelayer.start({ clock });
  await durable.svc.remember("tea that ends", inAMinute(clock));
  await durable.restart({}, async (dir) => {
    await Deno.remove(`${dir}/index.db`);
    await Deno.remove(`${dir}/jobs.kv`);
  });
  const { body } = await durable.svc.post("/api/restore", { namespace: "default" });
  assert.equal(body.restored, 1, JSON.stringify(body));
  clock.advance(MINUTE);
  await durable.restart();
  await untilSwept(durable.svc, 0, "default");
});

Deno.test("a store that fails in one namespace holds up no other, and is asked again", () =>
  withTimers(async () => {
    const clock = new TestClock();
    let failures = 0;
    const blobStore = intercepted(memoryBlobStore(), {
      delete: (next, id, scope) => {
        if (scope.namespace !== "a" || failures++ > 2) return next(id, scope);
        return Promise.reject(new SvcError("storage_unavailable"));
      },
    });
    await using svc = await startRelayer({ clock, backends: { blobStore } });
    for (const namespace of ["a", "b"]) {
      await svc.remember("tea", { ...inAMinute(clock), namespace });
    }
    clock.advance(MINUTE);
    await untilLeft(svc, 0, "b");
    await untilLeft(svc, 0, "a");
    assert.ok(failures > 2);
  }));

Deno.test("a memory that expires before its job has written it is deleted after that", () =>
  withTimers(async () => {
    const clock = new TestClock();
    const gate = new Gate();
    let scans = 0;
    const vectorStore = intercepted(memoryVectorStore(), {
      upsert: async (next, ...args) => {
        await gate.pass();
        await next(...args);
      },
      get: (next, ...args) => {
        scans++;
        return next(...args);
      },
    });
    await using svc = await startRelayer({ clock, backends: { vectorStore } });
    gate.close();
    const body = { text: "tea", ...inAMinute(clock) };
    assert.equal((await svc.post("/api/remember", body)).status, 202);
    await gate.reached;
    clock.advance(MINUTE);
    while (scans < 2) {
      mock.timers.tick(MINUTE);
      await setImmediate();
    }
    gate.open();
    await svc.relayer.idle();
    await untilLeft(svc, 0);
  }));
