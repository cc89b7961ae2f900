import assert from "node:assert/strict";
import { SvcError } from "../../src/errors.ts";
import { JOB_ERRORS } from "../../src/jobs/job.ts";
import { KvWriter } from "../../src/jobs/staging.ts";
import { startRelayer } from "../relayer_fixture.ts";
import { notOnPostgres } from "../test_store.ts";
import { verifies } from "../requirements.ts";

const VECTOR = Array.from({ length: 256 }, (_, i) => i === 0 ? 1 : 0);
const MANUAL = { encrypted_data: btoa("sealed by the client"), vector: VECTOR };

/** Routes that honour an idempotency key, with two bodies each. */
const KEYED = [
  ["/api/remember", { text: "I like tea" }, { text: "I like coffee" }],
  ["/api/remember/bulk", { items: [{ text: "a b" }] }, { items: [{ text: "c d" }] }],
  ["/api/remember/manual", MANUAL, { ...MANUAL, namespace: "other" }],
  ["/api/analyze", { text: "I like tea a lot." }, { text: "I like coffee a lot." }],
] as const;

for (const [route, body, other] of KEYED) {
  Deno.test(`${route} stores a keyed body once and refuses another under the key`, async () => {
    verifies("6-10", "6-11", "6-12", "6-13");
    await using svc = await startRelayer();
    const headers = { "idempotency-key": "one" };
    const first = await svc.post(route, body, { headers });
    await svc.relayer.idle();
    const again = await svc.post(route, body, { headers });
    assert.equal(again.headers.get("idempotency-replayed"), "true");
    assert.deepEqual(
      again.body.job_ids ?? again.body.job_id,
      first.body.job_ids ?? first.body.job_id,
    );
    const conflict = await svc.post(route, other, { headers });
    assert.deepEqual([conflict.status, conflict.body.code], [409, "idempotency_conflict"]);
    assert.equal((await svc.post("/api/stats", {})).body.memory_count, 1);
  });
}

Deno.test("routes that do not write ignore an idempotency key, whatever it holds", async () => {
  verifies("6-16");
  await using svc = await startRelayer();
  for (const key of ["one", "x".repeat(500)]) {
    const headers = { "idempotency-key": key };
    for (const query of ["tea", "coffee"]) {
      const answer = await svc.post("/api/recall", { query }, { headers });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get("idempotency-replayed"), null);
    }
  }
});

Deno.test("a 4-field read may be repeated and sees what came between", async () => {
  verifies("4.4-9");
  await using svc = await startRelayer();
  const { seconds: timestamp } = svc.clock;
  const read = () => svc.post("/api/recall", { query: "tea" }, { form: 4, timestamp });
  assert.equal((await read()).body.total, 0);
  await svc.remember("I like tea");
  const again = await read();
  assert.equal(again.body.total, 1);
  assert.equal(again.headers.get("idempotency-replayed"), null);
});

Deno.test("a repeated 4-field manual write is one, two different ones are two", async () => {
  verifies("4.4-12", "4.4-21");
  await using svc = await startRelayer();
  const { seconds: timestamp } = svc.clock;
  const write = (body: unknown) => svc.post("/api/remember/manual", body, { form: 4, timestamp });
  const first = await write(MANUAL);
  const again = await write(MANUAL);
  assert.equal(again.headers.get("idempotency-replayed"), "true");
  assert.equal(again.body.memory_id, first.body.memory_id);
  const other = await write({ ...MANUAL, importance: 1 });
  assert.notEqual(other.body.memory_id, first.body.memory_id);
  assert.equal((await svc.post("/api/stats", {})).body.memory_count, 2);
});

Deno.test("an answer given again under an idempotency key is given for its text as well", async () => {
  verifies("4.4-10", "6-10");
  await using svc = await startRelayer();
  const now = Number(svc.clock.seconds);
  const send = (age: number, key?: string) =>
    svc.post("/api/remember", { text: "pay rent" }, {
      form: 4,
      timestamp: String(now - age),
      ...(key === undefined ? {} : { headers: { "idempotency-key": key } }),
    });
  const first = await send(9, "one");
  // By its idempotency key, then by the text signed for that, which does not cover the key.
  for (const again of [await send(8, "one"), await send(8)]) {
    assert.equal(again.text, first.text);
    assert.equal(again.headers.get("idempotency-replayed"), "true");
  }
  // At the same time, when the first one is not kept yet.
  const parallel = await Promise.all([send(6, "a"), send(5, "a"), send(5), send(6)]);
  assert.equal(new Set(parallel.map(({ text }) => text)).size, 1);
  await svc.relayer.idle();
  assert.equal((await svc.post("/api/stats", {})).body.memory_count, 2);
});

Deno.test("a signed text gets its first answer, whatever idempotency key is put beside it", async () => {
  verifies("4.4-28", "4.4-29");
  await using svc = await startRelayer();
  const { seconds: timestamp } = svc.clock;
  const keyed = (key: string) => ({ headers: { "idempotency-key": key } });
  const captured = (key?: string) => {
    const options = { form: 4, timestamp, ...(key === undefined ? {} : keyed(key)) } as const;
    return svc.post("/api/remember", { text: "pay rent" }, options);
  };
  const taken = await svc.post("/api/remember", { text: "buy milk" }, keyed("taken"));
  const first = await captured("mine");
  // A free key, one of another body, the first one again, and none.
  for (const key of ["chosen", "taken", "mine", undefined]) {
    const again = await captured(key);
    assert.equal(again.status, 202, key);
    assert.equal(again.text, first.text, key);
    assert.equal(again.headers.get("idempotency-replayed"), "true", key);
  }
  // The key that came with the repetition is as free as before, for any body.
  const other = await svc.post("/api/remember", { text: "call Ana" }, keyed("chosen"));
  assert.deepEqual([other.status, other.headers.get("idempotency-replayed")], [202, null]);
  const milk = await svc.post("/api/remember", { text: "buy milk" }, keyed("taken"));
  assert.equal(milk.text, taken.text);
  await svc.relayer.idle();
  assert.equal((await svc.post("/api/stats", {})).body.memory_count, 3);
});

Deno.test("a repetition that waits for its text keeps nobody else's idempotency key waiting", async () => {
  verifies("4.4-28");
  const stored = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  await using svc = await startRelayer();
  const { blobStore } = svc.backends;
  const put = blobStore.put.bind(blobStore);
  blobStore.put = async (...args) => {
    reached.resolve();
    await stored.promise;
    return await put(...args);
  };
  const { seconds: timestamp } = svc.clock;
  const headers = { "idempotency-key": "victim" };
  const write = (more = {}) =>
    svc.post("/api/remember/manual", MANUAL, { form: 4, timestamp, ...more });
  const first = write();
  await reached.promise;
  const repetition = write({ headers });
  // Of the same route, and answered while both others wait for the blob.
  const refused = await svc.post("/api/remember/manual", { vector: VECTOR }, { headers });
  assert.equal(refused.status, 422);
  stored.resolve();
  assert.equal((await repetition).text, (await first).text);
});

const NOT_KEPT = "a write whose final answer cannot be kept is answered, and never written again";

Deno.test(...notOnPostgres(NOT_KEPT, "breaks commits of Deno KV"), async () => {
  verifies("4.4-12");
  await using svc = await startRelayer();
  const { seconds: timestamp } = svc.clock;
  const write = () => svc.post("/api/remember/manual", MANUAL, { form: 4, timestamp });
  const { commit } = KvWriter.prototype;
  let kept = 0;
  KvWriter.prototype.commit = function (mutations) {
    if (!mutations.some((mutation) => "text" in mutation) || ++kept !== 2) {
      return commit.call(this, mutations);
    }
    return Promise.reject(new SvcError("storage_unavailable"));
  };
  try {
    const first = await write();
    assert.equal(kept, 2);
    const again = await write();
    assert.deepEqual([first.status, again.status], [200, 200]);
    assert.equal(again.headers.get("idempotency-replayed"), "true");
    assert.equal(again.body.memory_id, first.body.memory_id);
  } finally {
    KvWriter.prototype.commit = commit;
  }
});

Deno.test("a refused 4-field write is not kept: the repeat is refused for its own reason", async () => {
  verifies("4.4-24");
  await using svc = await startRelayer();
  const { seconds: timestamp } = svc.clock;
  for (let i = 0; i < 2; i++) {
    const answer = await svc.post("/api/remember", { text: " " }, { form: 4, timestamp });
    assert.deepEqual([answer.status, answer.body.code], [400, "empty_text"]);
    assert.equal(answer.headers.get("idempotency-replayed"), null);
  }
});

Deno.test("manual recall finds a memory once its blob is stored, not before", async () => {
  verifies("10.7-5", "8-4");
  const stored = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  await using svc = await startRelayer();
  const { blobStore } = svc.backends;
  const put = blobStore.put.bind(blobStore);
  blobStore.put = async (...args) => {
    reached.resolve();
    await stored.promise;
    return await put(...args);
  };
  const { body } = await svc.post("/api/remember", { text: "I like tea" });
  await reached.promise;
  const find = () => svc.post("/api/recall/manual", { vector: VECTOR });
  const [text] = await svc.recall("tea");
  assert.equal(text, "I like tea");
  assert.equal((await find()).body.total, 0);
  stored.resolve();
  await svc.relayer.idle();
  assert.equal((await find()).body.total, 1);
  const job = await svc.get(`/api/remember/${body.job_id}`);
  assert.equal(job.body.status, "done");
  assert.notEqual(job.body.blob_id, "");
});

Deno.test("job error codes are those of the closed list, each with a text", () => {
  verifies("5-20");
  assert.deepEqual(Object.keys(JOB_ERRORS).sort(), [
    "deleted",
    "embedding_failed",
    "encryption_failed",
    "internal_error",
    "quota_exceeded",
    "storage_failed",
  ]);
  for (const text of Object.values(JOB_ERRORS)) assert.notEqual(text, "");
});

Deno.test("text and metadata reach the stores sealed", async () => {
  verifies("2-8");
  await using svc = await startRelayer();
  const seen: Uint8Array[] = [];
  const { blobStore, vectorStore } = svc.backends;
  const put = blobStore.put.bind(blobStore);
  blobStore.put = (bytes, options) => {
    seen.push(bytes);
    return put(bytes, options);
  };
  const upsert = vectorStore.upsert.bind(vectorStore);
  vectorStore.upsert = (entries, options) => {
    seen.push(...entries.map((entry) => entry.payload));
    return upsert(entries, options);
  };
  await svc.remember("an orchid named Mildred", { metadata: { place: "the winter garden" } });
  assert.ok(seen.length >= 2);
  for (const bytes of seen) {
    const text = new TextDecoder("latin1").decode(bytes);
    assert.ok(!text.includes("Mildred") && !text.includes("winter garden"));
  }
});

const NOT_READ = "when the table of used nonces cannot be read, the answer is 503, never 401";

Deno.test(...notOnPostgres(NOT_READ, "breaks reads of Deno KV"), async () => {
  verifies("4.4-27");
  await using svc = await startRelayer();
  const get = Deno.Kv.prototype.get;
  Deno.Kv.prototype.get = () => Promise.reject(new Error("disk"));
  try {
    const headers = { "idempotency-key": "one" };
    const { status, body } = await svc.post("/api/remember", { text: "I like tea" }, { headers });
    assert.deepEqual([status, body.code], [503, "storage_unavailable"]);
  } finally {
    Deno.Kv.prototype.get = get;
  }
});

Deno.test("a repeated manual write gets the very answer the first one got", async () => {
  verifies("4.4-12");
  await using svc = await startRelayer();
  const headers = { "idempotency-key": "one" };
  const first = await svc.post("/api/remember/manual", MANUAL, { headers });
  const again = await svc.post("/api/remember/manual", MANUAL, { headers });
  assert.deepEqual([first.status, again.status], [200, 200]);
  assert.equal(again.text, first.text);
});
