import assert from "node:assert/strict";
import { isUuid } from "../../src/wire/keys.ts";
import { type Json, startRelayer, testBackends, TestClock } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { assertError } from "./case.ts";

const STATES = ["pending", "running", "uploaded", "done", "failed"];

Deno.test("remember answers with the ids of its job and memory", async () => {
  verifies("1-2", "2-1", "2-9", "10.1-4", "10.1-9", "10.1-10", "10.1-11", "17.1-2");
  await using svc = await startRelayer();
  for (const namespace of [undefined, null, "", "default", "Work/2026 "]) {
    const { status, body } = await svc.post("/api/remember", {
      text: `tea ${namespace}`,
      namespace,
    });
    assert.equal(status, 202);
    assert.ok(isUuid(body.job_id));
    assert.deepEqual(body, {
      job_id: body.job_id,
      status: "running",
      memory_id: body.job_id,
      id: body.job_id,
      blob_id: "",
      owner: svc.owner,
      namespace: namespace || "default",
      recallable: false,
    });
  }
  await svc.relayer.idle();
});

Deno.test("times are taken in every spelling of RFC 3339 and answered in one", async () => {
  verifies("2-3", "10.1-7", "10.1-8");
  await using svc = await startRelayer();
  for (
    const [occurred_at, answered] of [
      ["2026-01-02t03:04:05.5z", "2026-01-02T03:04:05.500Z"],
      ["2026-01-02T03:04:05.1234567891+02:00", "2026-01-02T01:04:05.123Z"],
      ["2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"],
      ["9999-12-31T23:59:59.9999Z", "9999-12-31T23:59:59.999Z"],
    ]
  ) {
    const id = await svc.remember("tea", { occurred_at, expires_at: "2999-06-30T23:59:60Z" });
    const { body } = await svc.get(`/api/memories/${id}`);
    assert.equal(body.occurred_at, answered);
    assert.equal(body.expires_at, "2999-07-01T00:00:00.000Z");
  }
});

Deno.test("while no worker is free a job is pending", async () => {
  verifies("10.1-11", "10.2-1", "8-1", "17.1-3");
  const clock = new TestClock();
  const backends = await testBackends(clock);
  const gate = Promise.withResolvers<void>();
  const embedder = {
    ...backends.embedder,
    embed: async (...args: Parameters<typeof backends.embedder.embed>) => {
      await gate.promise;
      return await backends.embedder.embed(...args);
    },
  };
  await using svc = await startRelayer({
    clock,
    backends: { ...backends, embedder },
    config: { jobConcurrency: 1 },
  });
  const answers = [
    await svc.post("/api/remember", { text: "one" }),
    await svc.post("/api/remember", { text: "two" }),
  ];
  assert.deepEqual(answers.map(({ body }) => body.status), ["running", "pending"]);
  const record = (await svc.get(`/api/remember/${answers[1]?.body.job_id}`)).body;
  assert.equal(record.status, "pending");
  assert.equal(record.recallable, false);
  assert.equal(record.blob_id, undefined);
  gate.resolve();
  await svc.relayer.idle();
});

Deno.test("a job record has the members of the list", async () => {
  verifies("8-1", "8-20", "8-21", "10.2-1", "2-3", "2-17");
  await using svc = await startRelayer();
  const id = await svc.remember("tea", { namespace: "drinks" });
  for (const spelling of [id, id.toUpperCase()]) {
    const { status, body } = await svc.get(`/api/remember/${spelling}`);
    assert.equal(status, 200);
    const { created_at, updated_at, blob_id } = body;
    assert.deepEqual(body, {
      job_id: id,
      status: "done",
      owner: svc.owner,
      namespace: "drinks",
      memory_id: id,
      recallable: true,
      attempts: 1,
      created_at,
      updated_at,
      blob_id,
    });
    assert.equal(new Date(created_at).toISOString(), created_at);
    assert.ok(updated_at >= created_at);
    assert.ok(blob_id.length > 0);
    assert.ok(STATES.includes(body.status));
  }
});

Deno.test("a job that has not failed is not retried", async () => {
  verifies("10.2-5", "10.2-4");
  await using svc = await startRelayer();
  const id = await svc.remember("tea");
  for (const body of [undefined, {}]) {
    const answer = await svc.post(`/api/remember/${id}/retry`, body);
    assertError(answer, [409, "job_not_retryable"]);
  }
});

Deno.test("bulk answers ids in the order of its items", async () => {
  verifies("10.3-1", "10.3-4", "2-1");
  await using svc = await startRelayer();
  const items = [{ text: "tea" }, { text: "honey", namespace: "b" }, {
    text: "tea",
    importance: 1,
  }];
  const { status, body } = await svc.post("/api/remember/bulk", { items });
  assert.equal(status, 202);
  assert.deepEqual(body, { job_ids: body.job_ids, total: 3, status: "running" });
  assert.equal(new Set(body.job_ids).size, 3);
  await svc.relayer.idle();
  for (const [index, id] of body.job_ids.entries()) {
    const { body: memory } = await svc.get(`/api/memories/${id}`);
    assert.equal(memory.text, items[index]?.text);
    assert.equal(memory.namespace, items[index]?.namespace ?? "default");
    assert.equal(memory.importance, items[index]?.importance ?? 0.5);
    assert.equal(memory.source, "bulk");
  }
});

Deno.test("a bulk with one bad item stores nothing", async () => {
  verifies("10.3-3");
  await using svc = await startRelayer();
  const items = [{ text: "tea" }, { text: "honey" }, { text: " " }];
  assertError(
    await svc.post("/api/remember/bulk", { items }),
    [400, "empty_text"],
    { field: "items[2].text" },
  );
  await svc.relayer.idle();
  assert.equal((await svc.get("/api/memories")).body.total, 0);
});

Deno.test("bulk status answers in the order asked, duplicates kept", async () => {
  verifies("8-1", "10.3-6", "10.3-7", "10.3-8", "17.1-3");
  await using svc = await startRelayer();
  const first = await svc.remember("tea");
  const second = await svc.remember("honey");
  const unknown = crypto.randomUUID();
  const long = "x".repeat(3000); // more than a key of the job table can have
  const job_ids = [second, unknown, first, second, "no id", "", long, "\ud800"];
  const { status, body } = await svc.post("/api/remember/bulk/status", { job_ids });
  assert.equal(status, 200);
  const blobs = body.results.map((result: Json) => result.blob_id);
  const done = (job_id: string, blob_id: string) => ({
    job_id,
    status: "done",
    recallable: true,
    memory_id: job_id,
    attempts: 1,
    blob_id,
  });
  assert.deepEqual(body, {
    results: [
      done(second, blobs[0]),
      { job_id: unknown, status: "not_found" },
      done(first, blobs[2]),
      done(second, blobs[0]),
      { job_id: "no id", status: "not_found" },
      { job_id: "", status: "not_found" },
      { job_id: long, status: "not_found" },
      { job_id: "\ud800", status: "not_found" },
    ],
  });
});

Deno.test("manual answers once its blob is stored", async () => {
  verifies("10.4-1", "10.4-2", "10.4-8", "10.4-10", "10.4-11", "2-1", "2-7");
  await using svc = await startRelayer();
  const { body: { vector } } = await svc.post("/api/embed", { text: "tea" });
  const members = {
    namespace: "n",
    metadata: { a: 1 },
    importance: 0.9,
    occurred_at: "2026-01-02T03:04:05Z",
    expires_at: "2999-01-01T00:00:00Z",
  };
  const { status, body } = await svc.post("/api/remember/manual", {
    encrypted_data: Uint8Array.of(1, 2, 3).toBase64(),
    blob_id: "ignored",
    vector,
    ...members,
  });
  assert.equal(status, 200);
  const { id, blob_id } = body;
  assert.ok(isUuid(id));
  assert.deepEqual(body, {
    id,
    blob_id,
    owner: svc.owner,
    namespace: "n",
    memory_id: id,
    job_id: id,
  });
  const scope = { owner: svc.owner, namespace: "n" };
  assert.deepEqual(await svc.backends.blobStore.get(blob_id, scope), Uint8Array.of(1, 2, 3));
  const { body: found } = await svc.post("/api/recall/manual", { vector, namespace: "n" });
  const [hit] = found.results;
  assert.deepEqual([hit.memory_id, hit.importance], [id, 0.9]);
  const { body: memory } = await svc.get("/api/memories?namespace=n");
  assert.equal(memory.memories[0].source, "manual");
  assert.equal(memory.memories[0].occurred_at, "2026-01-02T03:04:05.000Z");
  assert.equal(memory.memories[0].expires_at, "2999-01-01T00:00:00.000Z");
  assert.deepEqual(await svc.recall("tea", { namespace: "n" }), []);
});

Deno.test("manual with a blob that cannot be read is refused", async () => {
  verifies("10.4-7");
  await using svc = await startRelayer();
  const { body: { vector } } = await svc.post("/api/embed", { text: "tea" });
  const foreign = await svc.backends.blobStore.put(Uint8Array.of(1), {
    owner: svc.owner,
    namespace: "other",
    idempotencyKey: "a",
  });
  for (const blob_id of [foreign, "unknown", ""]) {
    const answer = await svc.post("/api/remember/manual", { blob_id, vector });
    assertError(answer, [404, "blob_not_found"], {}, blob_id);
  }
});

Deno.test("embed answers the vector that a memory of the text has", async () => {
  verifies("10.7-17");
  await using svc = await startRelayer();
  const text = "The user's sister lives with the user in Brno";
  await svc.remember(text);
  const { body: { vector } } = await svc.post("/api/embed", { text });
  const { body } = await svc.post("/api/recall/manual", { vector });
  assert.ok(Math.abs(body.results[0].distance) < 1e-5, String(body.results[0].distance));
});

Deno.test("embed answers the vector and stores nothing", async () => {
  verifies("10.7-12");
  await using svc = await startRelayer();
  const { embedder } = svc.backends;
  for (const text of ["tea", "tea ".repeat(5000)]) {
    const { status, body } = await svc.post("/api/embed", { text });
    assert.equal(status, 200);
    const { vector } = body;
    assert.deepEqual(body, { vector, dimensions: embedder.dimensions, model: embedder.model });
    assert.equal(vector.length, embedder.dimensions);
    assert.ok(Math.abs(Math.hypot(...vector) - 1) < 1e-5);
  }
  assert.deepEqual((await svc.get("/api/namespaces")).body, { namespaces: [], total: 0 });
});
