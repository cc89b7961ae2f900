import assert from "node:assert/strict";
import { memoryBlobStore } from "../../plugins/memory/blob_store.ts";
import { memoryEmbedder } from "../../plugins/memory/embedder.ts";
import { memoryVectorStore } from "../../plugins/memory/vector_store.ts";
import { SvcError } from "../../src/errors.ts";
import { startRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { DurableRelayer } from "./durable.ts";
import { Gate, intercepted } from "./intercepted.ts";

/** An embedder whose documents wait at the gate; queries pass. */
function gatedEmbedder(gate: Gate) {
  return intercepted(memoryEmbedder(), {
    embed: async (next, ...args) => {
      if (args[1].purpose === "document") await gate.pass(args[1].signal);
      return await next(...args);
    },
  });
}

Deno.test("a recall right after a 202 finds the memory, 100 times of 100", async () => {
  verifies("10.6-26", "6-1");
  await using durable = await DurableRelayer.start();
  const { svc } = durable;
  for (let i = 0; i < 100; i++) {
    const text = `fact number ${i}`;
    const { status } = await svc.post("/api/remember", { text });
    assert.equal(status, 202);
    const found = await svc.recall(text, { limit: 1 });
    assert.deepEqual(found, [text]);
  }
});

Deno.test("many writers at once find their own memories", async () => {
  verifies("10.6-26");
  await using durable = await DurableRelayer.start();
  const { svc } = durable;
  await Promise.all(Array.from({ length: 50 }, async (_, i) => {
    const text = `thing${i} thought${i}`;
    const namespace = `n${i % 5}`;
    assert.equal((await svc.post("/api/remember", { text, namespace })).status, 202);
    assert.deepEqual(await svc.recall(text, { limit: 1, namespace }), [text]);
  }));
});

Deno.test("a recall waits its time, then says how many are pending", async () => {
  verifies("10.6-27", "10.6-33", "10.7-6", "10.1-11");
  const gate = new Gate();
  await using svc = await startRelayer({
    config: { recallWaitMs: 20, jobConcurrency: 2 },
    backends: { embedder: gatedEmbedder(gate) },
  });
  await svc.remember("tea one");
  gate.close();
  const statuses: string[] = [];
  for (const text of ["tea two", "tea three", "tea four"]) {
    statuses.push((await svc.post("/api/remember", { text })).body.status);
  }
  assert.deepEqual(statuses, ["running", "running", "pending"]);
  await svc.post("/api/remember", { text: "tea elsewhere", namespace: "other" });
  const { body } = await svc.post("/api/recall", { query: "tea" });
  assert.equal(body.pending, 3);
  assert.deepEqual(body.results.map((hit: { text: string }) => hit.text), ["tea one"]);
  assert.equal((await svc.post("/api/stats", {})).body.pending, 3);
  const empty = await svc.post("/api/recall", { query: "tea", namespace: "empty" });
  assert.equal(empty.body.pending, undefined);
  const vector = Array(256).fill(1);
  const manual = await svc.post("/api/recall/manual", { vector });
  assert.equal(manual.body.total, 1);
  assert.equal(manual.body.pending, undefined);
  const waiting = svc.post("/api/recall", { query: "tea" });
  gate.open();
  await svc.relayer.idle();
  await waiting;
  const after = await svc.post("/api/recall", { query: "tea" });
  assert.equal(after.body.total, 4);
  assert.equal(after.body.pending, undefined);
});

Deno.test("a recall without a wait answers with what there is", async () => {
  verifies("10.6-33");
  const gate = new Gate();
  await using svc = await startRelayer({
    config: { recallWaitMs: 0 },
    backends: { embedder: gatedEmbedder(gate) },
  });
  gate.close();
  await svc.post("/api/remember", { text: "tea" });
  const { body } = await svc.post("/api/recall", { query: "tea" });
  assert.equal(body.pending, 1);
  assert.equal(body.message, "No matching memories found");
  gate.open();
  await svc.relayer.idle();
});

Deno.test("a failed job is not pending, one that is put off is", async () => {
  verifies("10.6-28", "8-12", "8-22");
  const errors = [
    new SvcError("embedding_unavailable", undefined, { retryable: false }),
    new SvcError("embedding_unavailable"),
  ];
  const embedder = intercepted(memoryEmbedder(), {
    embed: (next, ...args) => {
      const error = args[1].purpose === "document" ? errors.shift() : undefined;
      return error === undefined ? next(...args) : Promise.reject(error);
    },
  });
  await using svc = await startRelayer({ config: { recallWaitMs: 20 }, backends: { embedder } });
  const failed = await svc.remember("first");
  assert.equal((await svc.get(`/api/remember/${failed}`)).body.status, "failed");
  assert.equal((await svc.post("/api/recall", { query: "x" })).body.pending, undefined);
  const putOff = await svc.remember("second");
  assert.equal((await svc.post("/api/recall", { query: "x" })).body.pending, 1);
  const { body } = await svc.get(`/api/remember/${putOff}`);
  assert.equal(body.status, "running");
  assert.equal(body.error_code, "embedding_failed");
  assert.equal(typeof body.error, "string");
  assert.equal(body.attempts, 1);
});

Deno.test("a memory is recallable before its upload ends, and stays so when that fails", async () => {
  verifies("8-7", "8-8", "8-9", "10.6-14", "8-21");
  const gate = new Gate();
  let broken = false;
  await using svc = await startRelayer({
    backends: {
      blobStore: intercepted(memoryBlobStore(), {
        put: async (next, ...args) => {
          await gate.pass(args[1].signal);
          if (broken) throw new SvcError("storage_unavailable", undefined, { retryable: false });
          return await next(...args);
        },
      }),
    },
  });
  gate.close();
  const { body } = await svc.post("/api/remember", { text: "a large cup ".repeat(3000) });
  const hits = (await svc.post("/api/recall", { query: "a large cup" })).body.results;
  assert.equal(hits.length, 1);
  assert.equal(hits[0].blob_id, "");
  const job = (await svc.get(`/api/remember/${body.job_id}`)).body;
  assert.equal(job.status, "running");
  assert.equal(job.recallable, true);
  assert.equal(job.blob_id, undefined);
  broken = true;
  gate.open();
  await svc.relayer.idle();
  const failed = (await svc.get(`/api/remember/${body.job_id}`)).body;
  assert.equal(failed.status, "failed");
  assert.equal(failed.error_code, "storage_failed");
  assert.equal(failed.recallable, true);
  assert.equal((await svc.post("/api/recall", { query: "a large cup" })).body.total, 1);
  assert.equal((await svc.get(`/api/memories/${body.job_id}`)).body.status, "failed");
  // A retry stores the very same ciphertext.
  broken = false;
  assert.equal((await svc.post(`/api/remember/${body.job_id}/retry`, {})).status, 202);
  await svc.relayer.idle();
  const done = (await svc.get(`/api/remember/${body.job_id}`)).body;
  assert.equal(done.status, "done");
  assert.equal(done.blob_id.length > 0, true);
  const [hit] = (await svc.post("/api/recall", { query: "a large cup" })).body.results;
  assert.equal(hit.blob_id, done.blob_id);
});

Deno.test("an uploaded job knows its blob; manual recall finds stored memories only", async () => {
  verifies("8-1", "8-4", "10.7-5");
  const [put, link] = [new Gate(), new Gate()];
  const blobStore = intercepted(memoryBlobStore(), {
    put: async (next, ...args) => {
      await put.pass(args[1].signal);
      return await next(...args);
    },
  });
  const vectorStore = intercepted(memoryVectorStore(), {
    link: async (next, ...args) => {
      await link.pass(args[2]?.signal);
      return await next(...args);
    },
  });
  await using svc = await startRelayer({ backends: { blobStore, vectorStore } });
  put.close();
  link.close();
  const { job_id } = (await svc.post("/api/remember", { text: "tea" })).body;
  await put.reached;
  const { vector } = (await svc.post("/api/embed", { text: "tea" })).body;
  const manual = async () => (await svc.post("/api/recall/manual", { vector })).body.total;
  assert.equal((await svc.get(`/api/remember/${job_id}`)).body.status, "running");
  assert.deepEqual([await svc.recall("tea"), await manual()], [["tea"], 0]);
  put.open();
  await link.reached;
  const uploaded = (await svc.get(`/api/remember/${job_id}`)).body;
  assert.equal(uploaded.status, "uploaded");
  assert.ok(uploaded.blob_id.length > 0);
  link.open();
  await svc.relayer.idle();
  const done = (await svc.get(`/api/remember/${job_id}`)).body;
  assert.deepEqual([done.status, done.blob_id], ["done", uploaded.blob_id]);
  assert.equal(await manual(), 1);
});
