import assert from "node:assert/strict";
import { type Json, startRelayer, type TestRelayer } from "../../relayer_fixture.ts";
import { verifies } from "../../requirements.ts";
import { assertError } from "../../http/case.ts";
import { DurableRelayer } from "../durable.ts";
import { intercepted } from "../intercepted.ts";
import { PublicBlobs } from "../retaining_store.ts";
import { SvcError } from "../../../src/errors.ts";
import { poll } from "../../within.ts";

const LARGE = "tea is what I drink in the morning ".repeat(2_000);

async function replace(svc: TestRelayer, id: string, body: Json): Promise<Json> {
  const answer = await svc.send("PUT", `/api/memories/${id}`, body);
  assert.equal(answer.status, 202, JSON.stringify(answer.body));
  return answer.body;
}

/** Waits until every accepted job is done. */
async function settled(svc: TestRelayer): Promise<void> {
  await svc.relayer.idle();
}

const read = async (svc: TestRelayer, id: string, version?: number): Promise<Json> => {
  const query = version === undefined ? "" : `?version=${version}`;
  const { status, body } = await svc.get(`/api/memories/${id}${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
};

const texts = async (svc: TestRelayer, query: string): Promise<string[]> =>
  (await svc.post("/api/recall", { query })).body.results.map((hit: Json) => hit.text);

Deno.test("a replaced memory is recalled in its new version, and its old one is history", async () => {
  verifies("10.9-9", "10.9-10", "10.9-12", "10.9-21", "10.9-22", "10.6-23", "2-16");
  await using svc = await startRelayer();
  const occurred_at = "2026-01-02T03:04:05.000Z";
  const members = { metadata: { kind: "drink" }, importance: 0.9, occurred_at };
  const id = await svc.remember("I drink tea", members);
  const before = await read(svc, id);
  const accepted = await replace(svc, id, { text: "I drink coffee" });
  assert.notEqual(accepted.job_id, id);
  assert.deepEqual(
    { memory_id: accepted.memory_id, version: accepted.version, namespace: accepted.namespace },
    { memory_id: id, version: 2, namespace: "default" },
  );
  // A recall that follows the 202 finds the new version, and not the old one.
  assert.deepEqual(await texts(svc, "what do I drink"), ["I drink coffee"]);
  await settled(svc);
  const after = await read(svc, id);
  assert.equal(after.text, "I drink coffee");
  assert.equal(after.version, 2);
  assert.deepEqual(after.metadata, members.metadata);
  assert.equal(after.importance, 0.9);
  assert.equal(after.occurred_at, occurred_at);
  assert.equal(after.created_at, before.created_at);
  assert.deepEqual(after.versions.map(({ version }: Json) => version), [2, 1]);
  assert.ok(after.versions.every(({ blob_id }: Json) => blob_id !== ""));
  const first = await read(svc, id, 1);
  assert.equal(first.text, "I drink tea");
  assert.equal(first.recallable, false);
  assert.equal(first.blob_id, before.blob_id);
  assert.deepEqual(await read(svc, id, 2), after);
  const { memories, total } = (await svc.get("/api/memories")).body;
  assert.equal(total, 1);
  assert.equal(memories[0].version, 2);
  const job = (await svc.get(`/api/remember/${accepted.job_id}`)).body;
  assert.deepEqual([job.status, job.memory_id], ["done", id]);
});

Deno.test("what is left out stays, and null takes it away", async () => {
  verifies("10.9-9", "10.9-23");
  await using svc = await startRelayer();
  const id = await svc.remember("tea", {
    metadata: { a: 1 },
    importance: 0.7,
    occurred_at: "2026-01-02T03:04:05.000Z",
    expires_at: "2999-01-01T00:00:00.000Z",
  });
  await replace(svc, id, { text: "green tea", metadata: null, expires_at: null, importance: 0.1 });
  await settled(svc);
  const after = await read(svc, id);
  assert.equal(after.metadata, undefined);
  assert.equal(after.expires_at, undefined);
  assert.equal(after.importance, 0.1);
  assert.equal(after.occurred_at, "2026-01-02T03:04:05.000Z");
  // Back to what it was, without its text being sent.
  assert.equal((await replace(svc, id, { from_version: 1 })).version, 3);
  await settled(svc);
  const back = await read(svc, id);
  assert.deepEqual([back.text, back.metadata, back.importance], ["tea", { a: 1 }, 0.7]);
  assert.equal(back.expires_at, "2999-01-01T00:00:00.000Z");
  assert.deepEqual(back.versions.map(({ version }: Json) => version), [3, 2, 1]);
});

Deno.test("an expected version that is not the newest is refused, also between two at once", async () => {
  verifies("10.9-11");
  await using svc = await startRelayer();
  const id = await svc.remember("tea");
  const put = (text: string, expected_version?: number) =>
    svc.send("PUT", `/api/memories/${id}`, { text, expected_version });
  assertError(await put("coffee", 2), [409, "version_conflict"]);
  const answers = await Promise.all(["a", "b", "c", "d"].map((text) => put(text, 1)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [202, 409, 409, 409]);
  // Without it each gets a version of its own.
  const free = await Promise.all(["e", "f", "g"].map((text) => put(text)));
  assert.deepEqual(free.map(({ body }) => body.version).sort(), [3, 4, 5]);
  await settled(svc);
  assert.equal((await read(svc, id)).version, 5);
  assert.equal((await put("h", 5)).status, 202);
});

Deno.test("wrong replacements are refused, and change nothing", async () => {
  verifies("10.9-24", "10.9-25");
  await using svc = await startRelayer();
  const id = await svc.remember("tea");
  const put = (body: Json, at = id) => svc.send("PUT", `/api/memories/${at}`, body);
  assertError(await put({}), [422, "invalid_request"], { field: "text" });
  assertError(await put({ text: " " }), [400, "empty_text"], { field: "text" });
  assertError(await put({ text: "a", from_version: 1 }), [422, "invalid_request"], {
    field: "from_version",
  });
  assertError(await put({ from_version: 7 }), [400, "invalid_parameter"], {
    field: "from_version",
  });
  assertError(await put({ from_version: 0 }), [422, "invalid_request"], { field: "from_version" });
  assertError(await put({ text: "a", expected_version: 1.5 }), [422, "invalid_request"], {
    field: "expected_version",
  });
  assertError(await put({ text: "a", metadata: { b: [] } }), [400, "invalid_metadata"], {
    field: "metadata",
  });
  assertError(await put({ text: "a" }, crypto.randomUUID()), [404, "memory_not_found"]);
  assertError(await put({ text: "a" }, "x"), [404, "memory_not_found"]);
  for (const version of ["0", "x", "1.5", "-1"]) {
    const answer = await svc.get(`/api/memories/${id}?version=${version}`);
    assertError(answer, [400, "invalid_parameter"], { field: "version" });
  }
  assertError(await svc.get(`/api/memories/${id}?version=2`), [404, "memory_not_found"]);
  const manual = { encrypted_data: "AAAA", vector: Array(256).fill(1) };
  const { memory_id } = (await svc.post("/api/remember/manual", manual)).body;
  assertError(await put({ text: "a" }, memory_id), [400, "invalid_parameter"]);
  assert.equal((await read(svc, id)).version, 1);
});

Deno.test("a deleted memory takes its versions along, also one that is on its way", async () => {
  verifies("10.9-26");
  await using durable = await DurableRelayer.start();
  const { svc } = durable;
  const id = await svc.remember("tea");
  await replace(svc, id, { text: LARGE });
  await settled(svc);
  await replace(svc, id, { text: "coffee" });
  const { status, body } = await svc.send("DELETE", `/api/memories/${id}`);
  assert.deepEqual([status, body.blob], [200, "deleted"]);
  await settled(svc);
  assertError(await svc.get(`/api/memories/${id}`), [404, "memory_not_found"]);
  assertError(await svc.get(`/api/memories/${id}?version=1`), [404, "memory_not_found"]);
  assertError(await svc.send("PUT", `/api/memories/${id}`, { text: "x" }), [
    404,
    "memory_not_found",
  ]);
  assert.deepEqual(await texts(svc, "tea coffee"), []);
  await durable.restart();
  const { restored, total } =
    (await durable.svc.post("/api/restore", { namespace: "default" })).body;
  assert.deepEqual({ restored, total }, { restored: 0, total: 0 });
  const other = await durable.svc.remember("water");
  await replace(durable.svc, other, { text: "milk" });
  await durable.svc.post("/api/forget", { namespace: "default" });
  await settled(durable.svc);
  const again = (await durable.svc.post("/api/restore", { namespace: "default" })).body;
  assert.equal(again.total, 0);
});

Deno.test("versions outlive restarts, a lost index, and a relayer that is started anew", async () => {
  verifies("10.8-10");
  await using durable = await DurableRelayer.start();
  const id = await durable.svc.remember("tea");
  await replace(durable.svc, id, { text: LARGE, metadata: { size: "large" } });
  await settled(durable.svc);
  await replace(durable.svc, id, { text: "coffee" });
  await settled(durable.svc);
  const before = await read(durable.svc, id);
  assert.deepEqual(before.versions.map(({ version }: Json) => version), [3, 2, 1]);
  const check = async () => {
    const { svc } = durable;
    assert.deepEqual(await read(svc, id), before);
    assert.equal((await read(svc, id, 1)).text, "tea");
    const second = await read(svc, id, 2);
    assert.deepEqual([second.text, second.metadata], [LARGE, { size: "large" }]);
    assert.deepEqual(await texts(svc, "tea coffee"), ["coffee"]);
  };
  await durable.restart();
  await check();
  const restore = async () =>
    (await durable.svc.post("/api/restore", { namespace: "default" })).body;
  await durable.restart({}, (dir) => Deno.remove(`${dir}/index.db`));
  const first = await restore();
  assert.deepEqual([first.restored, first.skipped, first.total], [1, 2, 3]);
  await check();
  const second = await restore();
  assert.deepEqual([second.restored, second.skipped, second.failed], [0, 3, 0]);
  await check();
});

Deno.test("an edit that gives a memory more time is not overtaken by its end", async () => {
  await using durable = await DurableRelayer.start();
  const { svc, clock } = durable;
  const at = (ms: number) => new Date(Date.now() + ms).toISOString();
  const id = await svc.remember("tea", { expires_at: at(60_000) });
  await replace(svc, id, { text: "tea", expires_at: at(600_000) });
  await settled(svc);
  clock.advance(120_000);
  assert.deepEqual(await texts(svc, "tea"), ["tea"]);
  await replace(svc, id, { text: "green tea" });
  assert.deepEqual(await texts(svc, "tea"), ["green tea"]);
});

Deno.test("a memory whose correction failed ends at its time all the same", async () => {
  let broken = false;
  await using durable = await DurableRelayer.start({
    wrap: {
      embedder: (embedder) =>
        intercepted(embedder, {
          embed: (next, ...args) => {
            if (!broken) return next(...args);
            const error = new SvcError("embedding_unavailable", undefined, { retryable: false });
            return Promise.reject(error);
          },
        }),
    },
  });
  const { svc, clock } = durable;
  const id = await svc.remember("tea", { expires_at: new Date(Date.now() + 60_000).toISOString() });
  broken = true;
  const { job_id } = await replace(svc, id, { text: "cocoa", expires_at: null });
  await settled(svc);
  assert.equal((await svc.get(`/api/remember/${job_id}`)).body.status, "failed");
  broken = false;
  clock.advance(60_001);
  assert.deepEqual(await texts(svc, "tea"), []);
  await poll(async () => (await svc.get(`/api/memories/${id}`)).status, (status) => status === 404);
});

Deno.test("a version whose record is lost is not answered by another one", async () => {
  await using blobs = new PublicBlobs();
  const hidden = new Set<string>();
  await using durable = await DurableRelayer.start({
    wrap: {
      blobStore: (store) => {
        const { get, ...rest } = blobs.open();
        return {
          ...rest,
          get: async (id, scope) => hidden.has(id) ? undefined : await get(id, scope),
          [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
        };
      },
    },
  });
  const { svc } = durable;
  const id = await svc.remember("tea");
  await replace(svc, id, { text: "cocoa" });
  await settled(svc);
  const { versions } = await read(svc, id);
  hidden.add(versions.find(({ version }: Json) => version === 1).blob_id);
  const { status, body } = await svc.get(`/api/memories/${id}?version=1`);
  assert.ok(status === 200 ? body.text !== "cocoa" : status === 503, JSON.stringify(body));
  assert.equal((await read(svc, id, 2)).text, "cocoa");
});

Deno.test("replaced versions count against the quota", async () => {
  verifies("10.9-26");
  await using svc = await startRelayer({ config: { quotaBytes: 60_000 } });
  const text = "a".repeat(20_000);
  const id = await svc.remember(text);
  await replace(svc, id, { text: `${text}b` });
  await settled(svc);
  const { used_bytes } = (await svc.get("/api/account")).body.quota;
  assert.ok(used_bytes > 40_000, `${used_bytes}`);
  const answer = await svc.send("PUT", `/api/memories/${id}`, { text: `${text}c` });
  assertError(answer, [402, "quota_exceeded"]);
  assert.equal((await svc.send("DELETE", `/api/memories/${id}`)).status, 200);
  assert.equal((await svc.get("/api/account")).body.quota.used_bytes, 0);
});
