import assert from "node:assert/strict";
import { memoryLanguageModel } from "../../plugins/memory/language_model.ts";
import { routeNames, rowOf } from "../../src/wire/routes.ts";
import type { SignedName } from "../../src/wire/route_types.ts";
import {
  type Json,
  type SendOptions,
  startRelayer,
  type TestKey,
  type TestRelayer,
} from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { assertError } from "./case.ts";
import { plain } from "./plain_answer.ts";

const NOTE = "I'm allergic to peanuts. My sister lives in Brno. The gate code is 7714.";
const VECTOR = Array.from({ length: 256 }, (_, i) => i === 0 ? 1 : 0);
const MANUAL = { encrypted_data: btoa("sealed by the client"), vector: VECTOR };
const AT = Date.parse("2026-03-01T09:00:00Z");
const UNKNOWN = "8f14e45f-ceea-467f-a3c1-2b0d6f3a9c11";

/** A relayer, and a key that it gets no `read` for. */
interface Side extends AsyncDisposable {
  readonly svc: TestRelayer;
  readonly key: TestKey;
}

/** What is stored on one side only: ids that nobody told the key, but that it may know. */
interface Stored {
  readonly memoryId: string;
  readonly manualId: string;
  readonly blobId: string;
}

async function side(withModel: boolean): Promise<Side> {
  // As a model that leaves out what it is told, and repeats it when it is asked to.
  const languageModel = memoryLanguageModel((messages) => {
    const data = JSON.parse(messages.at(-1)?.content.split("\n")[1] ?? "");
    return JSON.stringify({ facts: [data.text, ...data.related_memories] });
  });
  const svc = await startRelayer({ backends: withModel ? { languageModel } : {} });
  svc.clock.freeze(AT);
  const key = await svc.addKey(["write"]);
  return { svc, key, [Symbol.asyncDispose]: () => svc[Symbol.asyncDispose]() };
}

/** Stores what fits the requests below, by another key of the account. */
async function fill({ svc }: Side): Promise<Stored> {
  const memoryId = await svc.remember("I'm allergic to peanuts.");
  await svc.post("/api/analyze", { text: NOTE });
  const headers = { "idempotency-key": "same" };
  await svc.post("/api/remember", { text: "tea" }, { headers });
  await svc.post("/api/analyze", { text: NOTE }, { headers });
  await svc.post("/api/remember/bulk", { items: [{ text: "other" }] }, { headers });
  const { body } = await svc.post("/api/remember/manual", MANUAL, { headers });
  await svc.relayer.idle();
  assert.equal(body.blob_id === "", false);
  return { memoryId, manualId: body.job_id, blobId: body.blob_id };
}

type Request = readonly [route: SignedName, body?: Json, options?: SendOptions, path?: string];

/** Requests that what is stored could show in; `own` is a job of the key itself. */
function requests({ memoryId, manualId, blobId }: Stored, own: string): readonly Request[] {
  const keyed = { headers: { "idempotency-key": "same" } };
  const { encrypted_data: _, ...known } = { ...MANUAL, blob_id: blobId };
  const ids = [memoryId, manualId, own, UNKNOWN];
  const each = (route: SignedName, body?: Json) =>
    ids.map((id): Request => [
      route,
      body,
      {},
      route.slice(route.indexOf(" ") + 1)
        .replace(":id", id),
    ]);
  return [
    ["GET /api/account"],
    ["POST /api/embed", { text: "I'm allergic to peanuts." }],
    ["POST /api/session-token", { audience: "http://localhost:8000" }],
    ["POST /api/remember", { text: "I'm allergic to peanuts." }],
    ["POST /api/remember", { text: "tea" }, keyed],
    ["POST /api/remember", { text: "coffee" }, keyed],
    ["POST /api/remember/bulk", { items: [{ text: "other" }, { text: "other" }] }],
    ["POST /api/remember/bulk", { items: [{ text: "other" }] }, keyed],
    ["POST /api/remember/manual", MANUAL],
    ["POST /api/remember/manual", MANUAL, keyed],
    ["POST /api/remember/manual", known],
    ["POST /api/analyze", { text: NOTE }],
    ["POST /api/analyze", { text: NOTE }],
    ["POST /api/analyze", { text: NOTE }, keyed],
    ["POST /api/analyze", { text: "Hi!" }],
    ["POST /api/remember/bulk/status", { job_ids: ids }],
    ...each("GET /api/remember/:id"),
    ...each("POST /api/remember/:id/retry", {}),
    ...each("DELETE /api/memories/:id"),
    ...each("DELETE /api/memories/:id"),
    ["PUT /api/namespaces", { namespace: "default", conflicts: "auto" }],
    ["POST /api/forget", { namespace: "default" }],
    ["POST /api/forget", { namespace: "default" }],
    ["GET /api/account"],
  ];
}

for (const withModel of [false, true]) {
  const name = withModel ? "with a model" : "by rules";
  Deno.test(`without read an answer says nothing of what is stored: ${name}`, async () => {
    verifies("10-14", "6-27", "10.2-7", "10.4-12", "10.5-13", "10.9-20", "10.10-11", "10.10-12");
    await using empty = await side(withModel);
    await using full = await side(withModel);
    const stored = await fill(full);
    const own = async ({ svc, key }: Side) =>
      (await svc.post("/api/remember", { text: "mine" }, { key })).body.job_id;
    const lists = [
      [empty, requests(stored, await own(empty))],
      [full, requests(stored, await own(full))],
    ] as const;
    const called = new Set<string>();
    for (const [i, [route]] of lists[0][1].entries()) {
      called.add(route);
      const answers = [];
      for (const [{ svc, key }, list] of lists) {
        const [, body, options, path] = list[i]!;
        const [method = "", target = ""] = route.split(" ");
        const answer = await svc.send(method, path ?? target, body, { ...options, key });
        await svc.relayer.idle();
        answers.push(plain(answer));
      }
      assert.equal(answers[1], answers[0], `${i} ${route}`);
    }
    // No route is forgotten here.
    const without = routeNames("signed").filter((one) => !rowOf(one).permissions?.includes("read"));
    assert.deepEqual([...called].sort(), without.sort());
  });
}

Deno.test("without read every fact of a text is stored, and a model is told nothing", async () => {
  verifies("10.5-13");
  await using svc = await startRelayer();
  const key = await svc.addKey(["write"]);
  for (let i = 0; i < 2; i++) {
    const { body } = await svc.post("/api/analyze", { text: `${NOTE} The gate code is: 7714!` }, {
      key,
    });
    assert.equal(body.fact_count, 3);
    await svc.relayer.idle();
  }
  assert.equal((await svc.post("/api/stats", {})).body.memory_count, 6);
  // Who may read is compared with all of it.
  assert.equal((await svc.post("/api/analyze", { text: NOTE })).body.fact_count, 0);
});

Deno.test("without read a key deletes, and is not told what was there", async () => {
  verifies("10.9-20", "10.10-11", "10.10-12");
  await using svc = await startRelayer();
  const key = await svc.addKey(["write"]);
  const id = await svc.remember("tea");
  for (const memory_id of [id, id, UNKNOWN]) {
    const { status, body } = await svc.send("DELETE", `/api/memories/${memory_id}`, undefined, {
      key,
    });
    assert.deepEqual([status, body], [200, { memory_id, deleted: true }]);
  }
  assertError(await svc.send("DELETE", "/api/memories/x", undefined, { key }), [
    404,
    "memory_not_found",
  ]);
  await svc.remember("coffee", { namespace: "a" });
  const { body } = await svc.post("/api/forget", { namespace: "a" }, { key });
  assert.deepEqual(body, { namespace: "a", owner: svc.owner });
  assert.deepEqual(await svc.recall("tea coffee"), []);
  assert.deepEqual((await svc.get("/api/account", { key })).body.quota, { limit_bytes: null });
});

Deno.test("without read a key sees its own jobs, and no other key does", async () => {
  verifies("10.2-7");
  await using svc = await startRelayer();
  const key = await svc.addKey(["write"]);
  const other = await svc.addKey(["write"]);
  const id = await svc.remember("tea", {}, { key });
  assert.equal((await svc.get(`/api/remember/${id}`, { key })).body.status, "done");
  assertError(await svc.get(`/api/remember/${id}`, { key: other }), [404, "job_not_found"]);
  assert.equal((await svc.get(`/api/remember/${id}`)).status, 200);
  const job_ids = [id];
  const { body } = await svc.post("/api/remember/bulk/status", { job_ids }, { key: other });
  assert.deepEqual(body.results, [{ job_id: id, status: "not_found" }]);
  const retry = `/api/remember/${id}/retry`;
  assertError(await svc.post(retry, {}, { key }), [409, "job_not_retryable"]);
  assertError(await svc.post(retry, {}, { key: other }), [404, "job_not_found"]);
});
