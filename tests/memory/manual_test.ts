import assert from "node:assert/strict";
import { memoryBlobStore } from "../../plugins/memory/blob_store.ts";
import { startRelayer, type TestRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { Gate, intercepted } from "./intercepted.ts";

const BYTES = new TextEncoder().encode("sealed by the client");

/** A vector of the embedder's length that points along one axis. */
function axis(i: number, length = 256): number[] {
  return Array.from({ length }, (_, n) => n === i ? 3 : 0);
}

function manual(svc: TestRelayer, rest: Record<string, unknown> = {}) {
  const body = { encrypted_data: BYTES.toBase64(), vector: axis(0), ...rest };
  return svc.post("/api/remember/manual", body);
}

Deno.test("the client's bytes are stored as they are, its vector is found", async () => {
  verifies("10.4-1", "10.4-2", "10.4-11", "10.7-1", "10.7-2");
  await using svc = await startRelayer();
  const metadata = { from: "a client" };
  const { status, body } = await manual(svc, { metadata, importance: 0.8, namespace: "mine" });
  assert.equal(status, 200);
  const scope = { owner: svc.owner, namespace: "mine" };
  assert.deepEqual(await svc.backends.blobStore.get(body.blob_id, scope), BYTES);
  assert.deepEqual(Object.keys(body).sort(), [
    "blob_id",
    "id",
    "job_id",
    "memory_id",
    "namespace",
    "owner",
  ]);
  const found = await svc.post("/api/recall/manual", { vector: axis(0), namespace: "mine" });
  assert.deepEqual(Object.keys(found.body.results[0]).sort(), [
    "blob_id",
    "created_at",
    "distance",
    "importance",
    "memory_id",
    "namespace",
    "score",
  ]);
  assert.equal(found.body.results[0].memory_id, body.memory_id);
  assert.equal(found.body.results[0].importance, 0.8);
  assert.ok(Math.abs(found.body.results[0].distance) < 1e-6);
  const memory = await svc.get(`/api/memories/${body.memory_id}`);
  assert.deepEqual(memory.body.metadata, metadata);
  assert.equal(memory.body.source, "manual");
  assert.equal(memory.body.text, undefined);
  assert.equal(memory.body.size_bytes, BYTES.length);
});

Deno.test("plain recall leaves manual memories out, wherever they would stand", async () => {
  verifies("10.4-10");
  await using svc = await startRelayer();
  const { body } = await svc.post("/api/embed", { text: "green tea" });
  for (let i = 0; i < 12; i++) await manual(svc, { vector: body.vector });
  await svc.remember("green tea in the morning");
  assert.deepEqual(await svc.recall("green tea"), ["green tea in the morning"]);
  const found = await svc.post("/api/recall/manual", { vector: body.vector, limit: 100 });
  assert.equal(found.body.total, 13);
});

Deno.test("an upload that takes longer answers 202, the job goes on", async () => {
  verifies("10.4-3");
  const gate = new Gate();
  const blobStore = intercepted(memoryBlobStore(), {
    put: async (next, ...args) => {
      await gate.pass(args[1].signal);
      return await next(...args);
    },
  });
  await using svc = await startRelayer({ config: { manualWaitMs: 10 }, backends: { blobStore } });
  gate.close();
  const { status, body } = await manual(svc);
  assert.equal(status, 202);
  assert.equal(body.blob_id, "");
  assert.equal(body.job_id, body.memory_id);
  gate.open();
  await svc.relayer.idle();
  const job = await svc.get(`/api/remember/${body.job_id}`);
  assert.equal(job.body.status, "done");
  assert.equal(typeof job.body.blob_id, "string");
});

Deno.test("a blob that the client stored is registered; an unknown one is refused", async () => {
  verifies("10.4-7", "10.4-8");
  await using svc = await startRelayer();
  const scope = { owner: svc.owner, namespace: "default" };
  const { blobStore } = svc.backends;
  const stored = await blobStore.put(BYTES, { ...scope, idempotencyKey: "mine" });
  const registered = await svc.post("/api/remember/manual", { blob_id: stored, vector: axis(1) });
  assert.equal(registered.status, 200);
  assert.equal(registered.body.blob_id, stored);
  const unknown = await svc.post("/api/remember/manual", { blob_id: "none", vector: axis(1) });
  assert.equal(unknown.status, 404);
  assert.equal(unknown.body.code, "blob_not_found");
  const both = await manual(svc, { blob_id: "none" });
  assert.equal(both.status, 200);
  assert.notEqual(both.body.blob_id, stored);
  // Another owner's blob is as unknown.
  const { key } = await svc.addAccount();
  const foreign = await svc.post(
    "/api/remember/manual",
    { blob_id: stored, vector: axis(1) },
    { key },
  );
  assert.equal(foreign.status, 404);
});

Deno.test("the vector has the embedder's length", async () => {
  verifies("10.4-4", "10.7-3");
  await using svc = await startRelayer();
  const short = await manual(svc, { vector: axis(0, 255) });
  assert.equal(short.body.code, "dimension_mismatch");
  assert.match(short.body.error, /256/);
  const recall = await svc.post("/api/recall/manual", { vector: axis(0, 257) });
  assert.equal(recall.body.code, "dimension_mismatch");
  assert.equal((await svc.post("/api/stats", {})).body.memory_count, 0);
});

Deno.test("a blob that two memories share stays until both are deleted", async () => {
  verifies("10.9-13");
  await using svc = await startRelayer();
  const scope = { owner: svc.owner, namespace: "default" };
  const { blobStore } = svc.backends;
  const blob_id = await blobStore.put(BYTES, { ...scope, idempotencyKey: "mine" });
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) {
    ids.push((await svc.post("/api/remember/manual", { blob_id, vector: axis(i) })).body.id);
  }
  const [first, ...others] = ids;
  const retained = await svc.send("DELETE", `/api/memories/${first}`);
  assert.equal(retained.body.blob, "retained");
  assert.deepEqual(await blobStore.get(blob_id, scope), BYTES);
  assert.equal(others.length, 2);
  assert.equal((await svc.post("/api/forget", { namespace: "default" })).body.deleted, 2);
  assert.equal(await blobStore.get(blob_id, scope), undefined);
});
