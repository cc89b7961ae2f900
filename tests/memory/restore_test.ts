import assert from "node:assert/strict";
import { memoryBlobStore } from "../../plugins/memory/blob_store.ts";
import { memoryVectorStore } from "../../plugins/memory/vector_store.ts";
import { SvcError } from "../../src/errors.ts";
import { type Json, startRelayer, type TestRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { DurableRelayer } from "./durable.ts";
import { intercepted } from "./intercepted.ts";

interface Counts {
  restored: number;
  skipped: number;
  failed: number;
  remaining: number;
  total: number;
}

async function restore(svc: TestRelayer, limit = 50, namespace = "default"): Promise<Counts> {
  const { status, body } = await svc.post("/api/restore", { namespace, limit });
  assert.equal(status, 200);
  const { restored, skipped, failed, remaining, total, owner } = body;
  assert.equal(owner, svc.owner);
  assert.equal(total, restored + skipped + failed + remaining);
  return { restored, skipped, failed, remaining, total };
}

/** Everything that a listing says of the memories, by id. */
async function listing(svc: TestRelayer): Promise<Map<string, Json>> {
  const { body } = await svc.get("/api/memories?limit=200");
  return new Map(body.memories.map((memory: Json) => [memory.memory_id, memory]));
}

const loseIndex = (dir: string) => Deno.remove(`${dir}/index.db`);
const none = { restored: 0, skipped: 0, failed: 0, remaining: 0, total: 0 };

Deno.test("a lost index comes back whole: ids, times, importance, metadata, each once", async () => {
  verifies("10.8-3", "10.8-5", "10.8-6", "10.8-7", "10.8-8", "10.8-9", "10.8-11");
  await using durable = await DurableRelayer.start();
  for (let i = 0; i < 30; i++) {
    durable.clock.advance(1000);
    await durable.svc.remember(`tea ${i} `.repeat(i === 7 ? 5_000 : 1), {
      importance: i / 30,
      metadata: { number: i, kind: "tea" },
      ...(i % 2 === 0 ? { occurred_at: "2026-01-01T10:00:00Z" } : {}),
      ...(i % 3 === 0 ? { expires_at: "2100-01-01T00:00:00Z" } : {}),
    });
  }
  const manual = { encrypted_data: "AAAA", vector: Array(256).fill(1) };
  const { memory_id } = (await durable.svc.post("/api/remember/manual", manual)).body;
  const before = await listing(durable.svc);
  assert.equal(before.size, 31);
  const deleted = [...before.keys()].at(-1);
  before.delete(deleted!);
  assert.equal((await durable.svc.send("DELETE", `/api/memories/${deleted}`)).status, 200);
  assert.deepEqual(await restore(durable.svc), { ...none, skipped: 30, total: 30 });

  await durable.restart({}, loseIndex);
  assert.equal((await listing(durable.svc)).size, 0);
  // The relayer cannot open what the client encrypted itself.
  before.delete(memory_id);
  const left = before.size;
  assert.deepEqual(await restore(durable.svc, 0), { ...none, remaining: 30, total: 30 });
  assert.deepEqual(await restore(durable.svc), { ...none, restored: left, failed: 1, total: 30 });
  assert.deepEqual(await listing(durable.svc), before);
  assert.deepEqual(await restore(durable.svc), { ...none, skipped: left, failed: 1, total: 30 });
  const found = (await durable.svc.post("/api/recall", { query: "tea 12", limit: 100 })).body;
  assert.equal(found.total, left);
  assert.equal(new Set(found.results.map((hit: Json) => hit.memory_id)).size, left);
  await durable.restart();
  assert.deepEqual(await listing(durable.svc), before);
});

Deno.test("a limit restores the newest first; what cannot be read does not use it up", async () => {
  verifies("10.8-2", "10.8-4");
  await using durable = await DurableRelayer.start();
  for (let i = 0; i < 12; i++) {
    durable.clock.advance(1000);
    await durable.svc.remember(`tea ${i}`);
  }
  const vector = Array(256).fill(1);
  for (let i = 0; i < 5; i++) {
    const encrypted_data = Uint8Array.of(i, 1, 2).toBase64();
    await durable.svc.post("/api/remember/manual", { encrypted_data, vector });
  }
  await durable.restart({}, loseIndex);
  const limited = await restore(durable.svc, 4);
  assert.deepEqual(limited, { ...none, restored: 4, failed: 5, remaining: 8, total: 17 });
  const texts = (await durable.svc.get("/api/memories")).body.memories.map((m: Json) => m.text);
  assert.deepEqual(texts, ["tea 11", "tea 10", "tea 9", "tea 8"]);
  const rest = await restore(durable.svc, 1000);
  assert.deepEqual(rest, { ...none, restored: 8, skipped: 4, failed: 5, total: 17 });
});

Deno.test("restores at the same time index and count each memory once", async () => {
  verifies("10.8-11");
  await using durable = await DurableRelayer.start();
  const items = Array.from({ length: 20 }, (_, i) => ({ text: `tea ${i}` }));
  await durable.svc.post("/api/remember/bulk", { items });
  await durable.svc.relayer.idle();
  await durable.restart({}, loseIndex);
  const counts = await Promise.all([1, 2, 3, 4].map(() => restore(durable.svc)));
  assert.equal(counts.reduce((sum, { restored }) => sum + restored, 0), 20);
  assert.equal((await listing(durable.svc)).size, 20);
});

Deno.test("forgotten namespaces stay forgotten after the index is lost", async () => {
  verifies("10.8-9");
  await using durable = await DurableRelayer.start({
    // A store that cannot delete keeps every blob.
    wrap: {
      blobStore: (blobStore) =>
        new Proxy(blobStore, {
          get: (store, name) => {
            const member = name === "delete" ? undefined : Reflect.get(store, name);
            return typeof member === "function" ? member.bind(store) : member;
          },
        }),
    },
  });
  await durable.svc.remember("old tea");
  const id = await durable.svc.remember("other tea", { namespace: "other" });
  const deleted = await durable.svc.send("DELETE", `/api/memories/${id}`);
  assert.equal(deleted.body.blob, "retained");
  await durable.svc.post("/api/forget", { namespace: "default" });
  await durable.svc.remember("new tea");
  await durable.restart({}, loseIndex);
  // Each namespace has the blob of what was deleted and one with its tombstone.
  assert.deepEqual(await restore(durable.svc), { ...none, restored: 1, skipped: 2, total: 3 });
  const other = await restore(durable.svc, 50, "other");
  assert.deepEqual(other, { ...none, skipped: 2, total: 2 });
  assert.deepEqual(await durable.svc.recall("tea"), ["new tea"]);
});

Deno.test("the relayer key and the blobs alone bring everything back", async () => {
  verifies("10.8-7");
  await using durable = await DurableRelayer.start();
  await durable.svc.remember("green tea", { metadata: { a: 1 } });
  const before = await listing(durable.svc);
  const { account } = durable.svc;
  await durable.restart({ fresh: true }, async (dir) => {
    for (const { name } of await Array.fromAsync(Deno.readDir(dir))) {
      if (!name.startsWith("blobs.db")) await Deno.remove(`${dir}/${name}`);
    }
  });
  assert.equal(durable.svc.owner, account.owner);
  assert.deepEqual(await restore(durable.svc), { ...none, restored: 1, total: 1 });
  assert.deepEqual(await listing(durable.svc), before);
  assert.deepEqual(await durable.svc.recall("tea"), ["green tea"]);
});

Deno.test("blobs that cannot be fetched are counted and tried again", async () => {
  verifies("10.8-8");
  let down = true;
  const blobStore = memoryBlobStore();
  await using first = await startRelayer({ backends: { blobStore } });
  for (let i = 0; i < 3; i++) await first.remember(`tea ${i}`);
  const { accounts, cipher } = first.backends;
  const flaky = intercepted(blobStore, {
    get: (next, ...args) =>
      down ? Promise.reject(new SvcError("storage_unavailable")) : next(...args),
  });
  await using second = await startRelayer({
    backends: { accounts, cipher, blobStore: flaky, vectorStore: memoryVectorStore() },
    existing: { key: first.key, account: first.account },
  });
  assert.deepEqual(await restore(second), { ...none, failed: 3, total: 3 });
  assert.deepEqual(await restore(second, 2), { ...none, failed: 2, remaining: 1, total: 3 });
  down = false;
  assert.deepEqual(await restore(second), { ...none, restored: 3, total: 3 });
});

Deno.test("restore waits for running jobs and leaves their blobs to them", async () => {
  await using svc = await startRelayer();
  const answers = Array.from(
    { length: 10 },
    (_, i) => svc.post("/api/remember", { text: `t ${i}` }),
  );
  await Promise.all(answers);
  const { restored } = await restore(svc);
  assert.equal(restored, 0);
  await svc.relayer.idle();
  assert.equal((await listing(svc)).size, 10);
});

Deno.test("another owner restores nothing of it", async () => {
  await using durable = await DurableRelayer.start();
  await durable.svc.remember("tea");
  const { key } = await durable.svc.addAccount();
  const { body } = await durable.svc.post("/api/restore", { namespace: "default" }, { key });
  assert.equal(body.total, 0);
});

Deno.test("restore links the blob of a memory whose job failed behind it", async () => {
  let isDown = true;
  await using durable = await DurableRelayer.start({
    wrap: {
      vectorStore: (vectorStore) =>
        intercepted(vectorStore, {
          link: (next, ...args) => {
            if (!isDown) return next(...args);
            const error = new SvcError("storage_unavailable", undefined, { retryable: false });
            return Promise.reject(error);
          },
        }),
    },
  });
  const { svc } = durable;
  const text = "tea ".repeat(10_000);
  const id = await svc.remember(text);
  const state = async () => (await svc.get("/api/memories?text=false")).body.memories[0].status;
  assert.equal(await state(), "failed");
  isDown = false;
  const { body } = await svc.post("/api/restore", { namespace: "default" });
  assert.deepEqual([body.total, body.skipped, body.restored], [1, 1, 0]);
  assert.equal(await state(), "done");
  assert.equal((await svc.get(`/api/memories/${id}`)).body.text, text);
});
