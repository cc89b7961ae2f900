import assert from "node:assert/strict";
import { memoryEmbedder } from "../../plugins/memory/embedder.ts";
import { SvcError } from "../../src/errors.ts";
import { startRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { DurableRelayer } from "./durable.ts";
import { Gate, intercepted } from "./intercepted.ts";

const forgetDefault = { namespace: "default" };

Deno.test("forget deletes a namespace, its pending jobs too, and no other", async () => {
  verifies("10.10-4", "10.10-5", "10.10-6", "8-19");
  const gate = new Gate();
  await using durable = await DurableRelayer.start({
    config: { jobConcurrency: 2, recallWaitMs: 0 },
    wrap: {
      embedder: (embedder) =>
        intercepted(embedder, {
          embed: async (next, ...args) => {
            if (args[1].purpose === "document") await gate.pass(args[1].signal);
            return await next(...args);
          },
        }),
    },
  });
  const { svc } = durable;
  const stored = [await svc.remember("tea"), await svc.remember("tea ".repeat(10_000))];
  await svc.remember("tea elsewhere", { namespace: "Default" });
  const { key } = await svc.addAccount();
  await svc.remember("foreign tea", {}, { key });
  gate.close();
  const pending: string[] = [];
  for (let i = 0; i < 5; i++) {
    pending.push((await svc.post("/api/remember", { text: `tea ${i}` })).body.job_id);
  }
  await gate.reached;
  const { status, body } = await svc.post("/api/forget", forgetDefault);
  assert.equal(status, 200);
  const { receipt, erased: _, ...answer } = body;
  assert.deepEqual(answer, { deleted: 7, namespace: "default", owner: svc.owner });
  assert.equal(JSON.parse(receipt.statement).memory_ids.length, 7);
  for (const id of pending) {
    const job = (await svc.get(`/api/remember/${id}`)).body;
    assert.equal(job.error_code, "deleted");
  }
  gate.open();
  await svc.relayer.idle();
  assert.equal((await svc.post("/api/forget", forgetDefault)).body.deleted, 0);
  const scope = { owner: svc.owner, namespace: "default" };
  const check = async () => {
    const { vectorStore, blobStore } = durable.svc.backends;
    assert.deepEqual((await vectorStore.scan(scope)).entries, []);
    assert.deepEqual(await Array.fromAsync(blobStore.list(scope)), []);
    assert.deepEqual(await durable.svc.recall("tea"), []);
    for (const id of [...stored, ...pending]) {
      assert.equal((await durable.svc.get(`/api/memories/${id}`)).status, 404);
    }
    assert.deepEqual(await durable.svc.recall("tea", { namespace: "Default" }), ["tea elsewhere"]);
    assert.deepEqual(await durable.svc.recall("tea", {}, { key }), ["foreign tea"]);
  };
  await check();
  await durable.cutPower();
  await durable.svc.relayer.idle();
  await check();
});

Deno.test("what is accepted after a forget stays, in the same millisecond and after a step back", async () => {
  verifies("10.10-4", "10.8-9");
  await using durable = await DurableRelayer.start();
  durable.clock.freeze();
  const { svc } = durable;
  await svc.remember("old tea");
  await svc.post("/api/forget", forgetDefault);
  await svc.remember("new tea");
  durable.clock.advance(-86_400_000);
  await svc.remember("newer tea");
  assert.deepEqual((await svc.recall("tea")).sort(), ["new tea", "newer tea"]);
  await durable.restart({}, (dir) => Deno.remove(`${dir}/index.db`));
  const restored = await durable.svc.post("/api/restore", forgetDefault);
  assert.equal(restored.body.restored, 2);
  assert.deepEqual((await durable.svc.recall("tea")).sort(), ["new tea", "newer tea"]);
  const forgotten = await durable.svc.post("/api/forget", forgetDefault);
  assert.equal(forgotten.body.deleted, 2);
  assert.deepEqual(await durable.svc.recall("tea"), []);
});

Deno.test("memories accepted while a forget runs are there whole or not at all", async () => {
  await using durable = await DurableRelayer.start();
  for (let round = 0; round < 10; round++) {
    const texts = Array.from({ length: 20 }, (_, i) => `tea ${round} ${i}`);
    const answers = texts.map(async (text, i) => {
      if (i === 10) await durable.svc.post("/api/forget", forgetDefault);
      const body = { text: i % 3 === 0 ? text.padEnd(30_000, " x") : text };
      return (await durable.svc.post("/api/remember", body)).body.job_id;
    });
    const ids = await Promise.all(answers);
    await durable.svc.relayer.idle();
    const list = (await durable.svc.get("/api/memories?limit=200")).body;
    const listed = new Set(list.memories.map((item: { memory_id: string }) => item.memory_id));
    for (const id of ids) {
      const job = (await durable.svc.get(`/api/remember/${id}`)).body;
      assert.equal(listed.has(id), job.status === "done", job.error_code);
      const memory = await durable.svc.get(`/api/memories/${id}`);
      assert.equal(memory.status, listed.has(id) ? 200 : 404);
    }
    const scope = { owner: durable.svc.owner, namespace: "default" };
    const blobs = await Array.fromAsync(durable.svc.backends.blobStore.list(scope));
    assert.equal(blobs.length, listed.size);
    await durable.svc.post("/api/forget", forgetDefault);
  }
});

Deno.test("a forget comes before all memories of a bulk or after all of them", async () => {
  verifies("6-5");
  await using durable = await DurableRelayer.start();
  const { svc } = durable;
  await svc.remember("tea");
  for (let round = 0; round < 5; round++) {
    // The long ones are staged first, which takes a while.
    const items = Array.from({ length: 6 }, (_, i) => {
      return { text: `tea ${round} ${i}`.padEnd(i % 2 === 0 ? 20 : 400_000, " x") };
    });
    const [bulk] = await Promise.all([
      svc.post("/api/remember/bulk", { items }),
      svc.post("/api/forget", forgetDefault),
    ]);
    await svc.relayer.idle();
    const { job_ids } = bulk.body;
    const { results } = (await svc.post("/api/remember/bulk/status", { job_ids })).body;
    const ends = results.map((job: { error_code?: string }) => job.error_code ?? "done");
    assert.equal(new Set(ends).size, 1, ends.join(", "));
  }
});

Deno.test("a job that failed before a forget does not come back by a retry", async () => {
  let broken = true;
  const embedder = intercepted(memoryEmbedder(), {
    embed: (next, ...args) => {
      if (!broken || args[1].purpose === "query") return next(...args);
      const error = new SvcError("embedding_unavailable", undefined, { retryable: false });
      return Promise.reject(error);
    },
  });
  await using svc = await startRelayer({ backends: { embedder } });
  const id = await svc.remember("tea");
  broken = false;
  await svc.post("/api/forget", forgetDefault);
  await svc.post(`/api/remember/${id}/retry`, {});
  await svc.relayer.idle();
  assert.equal((await svc.get(`/api/remember/${id}`)).body.status, "failed");
  assert.deepEqual(await svc.recall("tea"), []);
});

Deno.test("a blob that a memory accepted meanwhile shares outlives a forget", async () => {
  const gate = new Gate();
  await using durable = await DurableRelayer.start({
    wrap: {
      blobStore: (blobStore) =>
        intercepted(blobStore, {
          delete: async (next, ...args) => {
            await gate.pass();
            return await next(...args);
          },
        }),
    },
  });
  const { svc } = durable;
  const vector = Array.from(
    { length: svc.backends.embedder.dimensions },
    (_, i) => i === 0 ? 1 : 0,
  );
  const ciphertext = { encrypted_data: btoa("sealed by the client"), vector };
  await svc.remember("tea");
  await svc.post("/api/remember/manual", ciphertext);
  gate.close();
  const forgetting = svc.post("/api/forget", forgetDefault);
  await gate.reached;
  const { status, body } = await svc.post("/api/remember/manual", ciphertext);
  assert.equal(status, 200);
  gate.open();
  assert.equal((await forgetting).body.deleted, 2);
  const scope = { owner: svc.owner, namespace: "default" };
  assert.ok(await svc.backends.blobStore.get(body.blob_id, scope));
  assert.equal((await svc.get("/api/memories?text=false")).body.total, 1);
});

Deno.test("no clock lets a forget delete the blob of a memory accepted after it", async () => {
  const [deletes, links] = [new Gate(), new Gate()];
  await using durable = await DurableRelayer.start({
    wrap: {
      blobStore: (blobStore) =>
        intercepted(blobStore, {
          delete: async (next, ...args) => {
            await deletes.pass();
            return await next(...args);
          },
        }),
      vectorStore: (vectorStore) =>
        intercepted(vectorStore, {
          link: async (next, ...args) => {
            await links.pass(args[2]?.signal);
            return await next(...args);
          },
        }),
    },
  });
  const { svc } = durable;
  durable.clock.advance(60_000);
  await svc.remember("tea of tomorrow");
  durable.clock.advance(-60_000);
  deletes.close();
  links.close();
  const forgetting = svc.post("/api/forget", forgetDefault);
  await deletes.reached;
  const id = (await svc.post("/api/remember", { text: "tea ".repeat(10_000) })).body.job_id;
  await links.reached;
  deletes.open();
  assert.equal((await forgetting).body.deleted, 1);
  links.open();
  await svc.relayer.idle();
  assert.equal((await svc.get(`/api/memories/${id}`)).status, 200);
});

Deno.test("a forget deletes each blob once, and leaves no row of a job that was put off", async () => {
  let isDown = false;
  const deleted: string[] = [];
  const failing = () => Promise.reject(new SvcError("storage_unavailable"));
  await using durable = await DurableRelayer.start({
    wrap: {
      blobStore: (blobStore) =>
        intercepted(blobStore, {
          put: (next, ...args) => isDown ? failing() : next(...args),
          delete: (next, ...args) => {
            if (isDown) return failing();
            deleted.push(args[0]);
            return next(...args);
          },
        }),
    },
  });
  const { svc } = durable;
  await svc.remember("tea");
  isDown = true;
  await svc.post("/api/remember", { text: "tea that waits for its upload" });
  await svc.relayer.idle();
  assert.equal((await svc.post("/api/forget", forgetDefault)).status, 503);
  isDown = false;
  assert.equal((await svc.post("/api/forget", forgetDefault)).body.deleted, 0);
  // The second blob was stored to learn its id: an attempt may have stored it before.
  assert.deepEqual([deleted.length, new Set(deleted).size], [2, 2]);
  assert.equal((await svc.post("/api/stats", {})).body.memory_count, 0);
});

Deno.test("a forget that failed half way hides nothing, and the next one finishes it", async () => {
  verifies("10.6-2");
  let isDown = false;
  await using durable = await DurableRelayer.start({
    config: { indexMemoryBytes: 1 },
    wrap: {
      blobStore: (blobStore) =>
        intercepted(blobStore, {
          delete: (next, ...args) => {
            return isDown ? Promise.reject(new SvcError("storage_unavailable")) : next(...args);
          },
        }),
    },
  });
  const { svc } = durable;
  for (let i = 0; i < 12; i++) await svc.remember(`green tea is nice ${i}`);
  isDown = true;
  assert.equal((await svc.post("/api/forget", forgetDefault)).status, 503);
  isDown = false;
  await svc.remember("the new kettle came today");
  // The index has room for one scope: the next recall loads this one anew.
  await svc.recall("tea", { namespace: "other" });
  assert.deepEqual(await svc.recall("green tea is nice"), ["the new kettle came today"]);
  const listed = (await svc.get("/api/memories?limit=1")).body;
  assert.deepEqual([listed.total, listed.memories.length], [1, 1]);
  assert.equal((await svc.post("/api/forget", forgetDefault)).body.deleted, 1);
  const scope = { owner: svc.owner, namespace: "default" };
  assert.deepEqual((await svc.backends.vectorStore.scan(scope)).entries, []);
  assert.deepEqual(await Array.fromAsync(svc.backends.blobStore.list(scope)), []);
});

Deno.test("forget removes blobs that no index knows", async () => {
  await using durable = await DurableRelayer.start();
  for (let i = 0; i < 5; i++) await durable.svc.remember(`tea ${i}`);
  await durable.restart({}, (dir) => Deno.remove(`${dir}/index.db`));
  durable.clock.advance(1000);
  assert.equal((await durable.svc.post("/api/forget", forgetDefault)).body.deleted, 0);
  const restored = await durable.svc.post("/api/restore", forgetDefault);
  assert.deepEqual([restored.body.total, restored.body.restored], [0, 0]);
});
