import assert from "node:assert/strict";
import { memoryBlobStore } from "../../plugins/memory/blob_store.ts";
import { memoryVectorStore } from "../../plugins/memory/vector_store.ts";
import { startRelayer, TestClock } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { intercepted } from "./intercepted.ts";

Deno.test("an expired memory is recalled no more, then removed with its blob", async () => {
  verifies("10.6-21", "10.1-8");
  const clock = new TestClock();
  clock.freeze();
  const purged = Promise.withResolvers<void>();
  const blobStore = memoryBlobStore();
  const vectorStore = intercepted(memoryVectorStore(), {
    delete: async (next, ...args) => {
      await next(...args);
      purged.resolve();
    },
  });
  await using svc = await startRelayer({ clock, backends: { blobStore, vectorStore } });
  const soon = new Date(clock.now() + 60_000).toISOString();
  const id = await svc.remember("tea that ends", { expires_at: soon });
  const kept = await svc.remember("tea that stays");
  assert.equal((await svc.recall("tea")).length, 2);
  assert.equal((await svc.get(`/api/memories/${id}`)).body.expires_at, soon);
  clock.advance(59_999);
  assert.equal((await svc.recall("tea")).length, 2);
  clock.advance(1);
  assert.equal((await svc.get(`/api/memories/${id}`)).status, 404);
  const list = (await svc.get("/api/memories")).body;
  assert.equal(list.total, 1);
  assert.deepEqual(await svc.recall("tea"), ["tea that stays"]);
  await purged.promise;
  assert.deepEqual((await vectorStore.get(svc.owner, [id, kept])).map((e) => e.id), [kept]);
  const blobs = await Array.fromAsync(blobStore.list({ owner: svc.owner, namespace: "default" }));
  assert.equal(blobs.length, 1);
  assert.equal((await svc.post("/api/stats", {})).body.memory_count, 1);
  const restored = await svc.post("/api/restore", { namespace: "default" });
  assert.equal(restored.body.restored, 0);
});

Deno.test("a listing removes what has expired as well", async () => {
  const clock = new TestClock();
  clock.freeze();
  const purged = Promise.withResolvers<void>();
  const vectorStore = intercepted(memoryVectorStore(), {
    delete: async (next, ...args) => {
      await next(...args);
      purged.resolve();
    },
  });
  await using svc = await startRelayer({ clock, backends: { vectorStore } });
  await svc.remember("tea", { expires_at: new Date(clock.now() + 60_000).toISOString() });
  clock.advance(60_000);
  assert.equal((await svc.get("/api/memories")).body.total, 0);
  await purged.promise;
  assert.equal((await svc.post("/api/stats", {})).body.memory_count, 0);
});

Deno.test("a memory that expires while its job waits is not recalled", async () => {
  verifies("10.6-21");
  const clock = new TestClock();
  clock.freeze();
  await using svc = await startRelayer({ clock });
  const past = new Date(clock.now() - 1).toISOString();
  const refused = await svc.post("/api/remember", { text: "tea", expires_at: past });
  assert.equal(refused.status, 400);
  const soon = new Date(clock.now() + 60_000).toISOString();
  assert.equal((await svc.post("/api/remember", { text: "tea", expires_at: soon })).status, 202);
  clock.advance(60_000);
  assert.deepEqual(await svc.recall("tea"), []);
  await svc.relayer.idle();
  assert.deepEqual(await svc.recall("tea"), []);
});
