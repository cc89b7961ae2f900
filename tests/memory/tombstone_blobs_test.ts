import assert from "node:assert/strict";
import { memoryVectorStore } from "../../plugins/memory/vector_store.ts";
import { SvcError } from "../../src/errors.ts";
import type { Cipher } from "../../src/interfaces/mod.ts";
import {
  type Json,
  startRelayer,
  testBackends,
  TestClock,
  type TestRelayer,
} from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { DurableRelayer } from "./durable.ts";
import { intercepted } from "./intercepted.ts";
import { PublicBlobs } from "./retaining_store.ts";
import { poll } from "../within.ts";

/** Another relayer of the same accounts and keys, which knows the blobs only. */
function elsewhere(first: TestRelayer, blobs: PublicBlobs): Promise<TestRelayer> {
  const { accounts, cipher } = first.backends;
  return startRelayer({
    backends: { accounts, cipher, blobStore: blobs.open(), vectorStore: memoryVectorStore() },
    existing: { key: first.key, account: first.account },
  });
}

async function restore(svc: TestRelayer, limit = 500): Promise<Json> {
  const { status, body } = await svc.post("/api/restore", { namespace: "default", limit });
  assert.equal(status, 200);
  const { restored, skipped, failed, remaining, total } = body;
  assert.equal(total, restored + skipped + failed + remaining);
  return { restored, skipped, failed, total };
}

/** Waits until so many blobs were put. */
async function putCount(blobs: PublicBlobs, count: number): Promise<void> {
  await poll(() => blobs.puts.length, (number) => number >= count);
}

Deno.test("a deleted memory does not come back elsewhere: a sealed tombstone says so", async () => {
  verifies("10.9-17");
  await using blobs = new PublicBlobs();
  await using first = await startRelayer({ backends: { blobStore: blobs.open() } });
  await first.remember("green tea");
  const id = await first.remember("black tea");
  const { body } = await first.send("DELETE", `/api/memories/${id}`);
  assert.equal(body.blob, "retained");
  await putCount(blobs, 3);
  await using second = await elsewhere(first, blobs);
  assert.deepEqual(await restore(second), { restored: 1, skipped: 2, failed: 0, total: 3 });
  assert.deepEqual(await second.recall("tea"), ["green tea"]);
  assert.equal((await second.get(`/api/memories/${id}`)).status, 404);
  // It does not repeat what it was told.
  assert.deepEqual(await restore(second), { restored: 0, skipped: 3, failed: 0, total: 3 });
  assert.equal(blobs.puts.length, 3);
});

Deno.test("a memory does not come back whose blob is gone for all its relayer knows", async () => {
  await using blobs = new PublicBlobs();
  const blobStore = intercepted(blobs.open(), {
    // Another relayer renewed it, or moved it elsewhere: there it is read and listed as before.
    delete: (next, ...args) => next(...args).then(() => true),
  });
  await using first = await startRelayer({ backends: { blobStore } });
  const [id, ...others] = [await first.remember("black tea"), await first.remember("green tea")];
  assert.equal((await first.send("DELETE", `/api/memories/${id}`)).body.blob, "deleted");
  await putCount(blobs, 3);
  await using second = await elsewhere(first, blobs);
  assert.deepEqual(await restore(second), { restored: 1, skipped: 2, failed: 0, total: 3 });
  assert.equal((await first.send("DELETE", `/api/memories/${others[0]}`)).body.blob, "deleted");
  await putCount(blobs, 4);
  assert.deepEqual(await restore(second), { restored: 0, skipped: 4, failed: 0, total: 4 });
  assert.deepEqual(await second.recall("tea"), []);
});

Deno.test("a tombstone that is read after its memory was restored removes it", async () => {
  await using blobs = new PublicBlobs();
  await using first = await startRelayer({ backends: { blobStore: blobs.open() } });
  const id = await first.remember("black tea");
  await using second = await elsewhere(first, blobs);
  assert.equal((await restore(second)).restored, 1);
  await first.send("DELETE", `/api/memories/${id}`);
  await putCount(blobs, 2);
  assert.deepEqual(await restore(second), { restored: 0, skipped: 2, failed: 0, total: 2 });
  assert.deepEqual(await second.recall("tea"), []);
});

Deno.test("a forgotten namespace stays forgotten elsewhere, and takes new memories", async () => {
  await using blobs = new PublicBlobs();
  await using first = await startRelayer({ backends: { blobStore: blobs.open() } });
  for (const kind of ["green", "black", "white"]) await first.remember(`${kind} tea`);
  assert.equal((await first.post("/api/forget", { namespace: "default" })).body.deleted, 3);
  await putCount(blobs, 4);
  await first.remember("mint tea");
  await using second = await elsewhere(first, blobs);
  const counts = await restore(second);
  assert.equal(counts.restored, 1);
  assert.deepEqual(await second.recall("tea"), ["mint tea"]);
});

Deno.test("many deletions share one tombstone, and none is forgotten while the store is down", async () => {
  await using blobs = new PublicBlobs();
  await using durable = await DurableRelayer.start({
    wrap: {
      blobStore(unused) {
        void unused[Symbol.asyncDispose]();
        return blobs.open();
      },
    },
  });
  const ids: string[] = [];
  for (let i = 0; i < 8; i++) ids.push(await durable.svc.remember(`tea ${i}`));
  blobs.down = true;
  for (const id of ids.slice(0, 5)) {
    assert.equal((await durable.svc.send("DELETE", `/api/memories/${id}`)).status, 200);
  }
  assert.equal(blobs.puts.length, 8);
  await durable.cutPower();
  blobs.down = false;
  await durable.restart();
  await putCount(blobs, 9);
  assert.match(blobs.puts[8]!, /^tombstone:/);
  // The store lists everything again to a relayer that starts: deleted memories stay away.
  await durable.restart({}, (dir) => Deno.remove(`${dir}/index.db`));
  assert.equal((await restore(durable.svc)).restored, 3);
  assert.equal(blobs.puts.length, 9);
});

Deno.test("a deletion does not wait for a blob that waits for company, and outlives it", async () => {
  await using blobs = new PublicBlobs();
  await using first = await startRelayer({ backends: { blobStore: blobs.open() } });
  const company = Promise.withResolvers<void>();
  blobs.company = company.promise;
  const { body } = await first.post("/api/remember", { text: "black tea" });
  assert.deepEqual(await first.recall("tea"), ["black tea"]);
  const gone = await first.send("DELETE", `/api/memories/${body.memory_id}`);
  assert.deepEqual([gone.status, gone.body.blob], [200, "none"]);
  assert.ok(blobs.puts.every((key) => key.startsWith("tombstone:")));
  company.resolve();
  await first.relayer.idle();
  await putCount(blobs, 2);
  await using second = await elsewhere(first, blobs);
  const counts = await restore(second);
  assert.equal(counts.restored, 0);
  assert.equal(counts.failed, 0);
});

Deno.test("a memory that is deleted while it waits for company is never stored", async () => {
  await using blobs = new PublicBlobs();
  await using svc = await startRelayer({
    backends: { blobStore: blobs.open({ withdraws: true }) },
  });
  const company = Promise.withResolvers<void>();
  blobs.company = company.promise;
  const { body } = await svc.post("/api/remember", { text: "black tea" });
  assert.deepEqual(await svc.recall("tea"), ["black tea"]);
  const gone = await svc.send("DELETE", `/api/memories/${body.memory_id}`);
  assert.deepEqual([gone.status, gone.body.blob], [200, "none"]);
  company.resolve();
  await svc.relayer.idle();
  assert.ok(blobs.puts.every((key) => key.startsWith("tombstone:")));
  assert.deepEqual(await svc.recall("tea"), []);
});

Deno.test("a blob that moved is linked under its new id", async () => {
  await using blobs = new PublicBlobs();
  const store = blobs.open();
  await using svc = await startRelayer({ backends: { blobStore: store } });
  const id = await svc.remember("green tea ".repeat(4_000));
  const before = (await svc.get(`/api/memories/${id}`)).body;
  await store.move({ owner: svc.owner, namespace: "default" }, before.blob_id, "moved-1");
  const after = (await svc.get(`/api/memories/${id}`)).body;
  assert.equal(after.blob_id, "moved-1");
  assert.equal(after.text, before.text);
  assert.deepEqual(await restore(svc), { restored: 0, skipped: 1, failed: 0, total: 1 });
});

Deno.test("a forget by a clock that is a day ahead takes nothing that was stored after it", async () => {
  await using blobs = new PublicBlobs();
  const clock = new TestClock();
  clock.advance(86_400_000);
  await using first = await startRelayer({ backends: { blobStore: blobs.open() }, clock });
  for (const kind of ["green", "black"]) await first.remember(`${kind} tea`);
  await first.post("/api/forget", { namespace: "default" });
  await putCount(blobs, 3);
  await using second = await elsewhere(first, blobs);
  // The store tells milliseconds.
  const now = Date.now();
  await poll(Date.now, (later) => later > now);
  const id = await second.remember("mint tea");
  assert.deepEqual(await restore(second), { restored: 0, skipped: 4, failed: 0, total: 4 });
  assert.deepEqual(await second.recall("tea"), ["mint tea"]);
  const { created_at: made } = (await second.get(`/api/memories/${id}`)).body;
  assert.ok(Date.parse(made) < clock.now() - 3_600_000, made);
});

Deno.test("a memory that is deleted while nobody knows whether it is stored gets a tombstone", async () => {
  await using blobs = new PublicBlobs();
  const store = blobs.open();
  const put: typeof store.put = async (bytes, options) => {
    const blobId = await store.put(bytes, options);
    // Stored, but the answer is lost.
    if (!options.idempotencyKey.startsWith("tombstone:")) throw new Error("lost");
    return blobId;
  };
  await using svc = await startRelayer({ backends: { blobStore: { ...store, put } } });
  const { body } = await svc.post("/api/remember", { text: "black tea" });
  await putCount(blobs, 1);
  const answer = await svc.send("DELETE", `/api/memories/${body.memory_id}`);
  assert.equal(answer.body.blob, "none");
  // The store was asked once more, also in vain.
  await putCount(blobs, 3);
  assert.match(blobs.puts[2]!, /^tombstone:/);
});

Deno.test("a deletion that cannot be sealed holds up no other account's", async () => {
  await using blobs = new PublicBlobs();
  const clock = new TestClock();
  const backends = await testBackends(clock);
  const refused = new Set<string>();
  const cipher: Cipher = {
    ...backends.cipher,
    seal: (plaintext, context, options) => {
      if (refused.has(context.accountId)) throw new SvcError("chain_unavailable");
      return backends.cipher.seal(plaintext, context, options);
    },
    open: (...args) => backends.cipher.open(...args),
    [Symbol.asyncDispose]: () => backends.cipher[Symbol.asyncDispose](),
  };
  await using svc = await startRelayer({ backends: { blobStore: blobs.open(), cipher }, clock });
  const { key } = await svc.addAccount();
  const ids = [await svc.remember("green tea"), await svc.remember("black tea", {}, { key })];
  refused.add(svc.account.accountId);
  await svc.send("DELETE", `/api/memories/${ids[0]}`);
  await svc.send("DELETE", `/api/memories/${ids[1]}`, undefined, { key });
  await putCount(blobs, 3);
});

Deno.test("a deletion does not wait for an upload that hangs, and is told", async () => {
  await using blobs = new PublicBlobs();
  const store = blobs.open();
  const uploads: PromiseWithResolvers<void>[] = [];
  const put: typeof store.put = async (bytes, options) => {
    const blobId = await store.put(bytes, options);
    if (options.idempotencyKey.startsWith("tombstone:")) return blobId;
    const upload = Promise.withResolvers<void>();
    uploads.push(upload);
    await upload.promise;
    return blobId;
  };
  await using svc = await startRelayer({ backends: { blobStore: { ...store, put } } });
  const { body } = await svc.post("/api/remember", { text: "black tea" });
  await putCount(blobs, 1);
  const answer = await svc.send("DELETE", `/api/memories/${body.memory_id}`);
  assert.equal(answer.status, 200);
  await putCount(blobs, 3);
  assert.match(blobs.puts[2]!, /^tombstone:/);
  for (const { resolve } of uploads) resolve();
  await svc.relayer.idle();
  assert.deepEqual(await svc.recall("tea"), []);
});
