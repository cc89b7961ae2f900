import assert from "node:assert/strict";
import { assertError } from "../../http/case.ts";
import { type Json, startRelayer, type TestRelayer } from "../../relayer_fixture.ts";
import { verifies } from "../../requirements.ts";
import { DurableRelayer } from "../durable.ts";

const at = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

const texts = async (svc: TestRelayer, query: string, more: Json = {}): Promise<string[]> =>
  (await svc.post("/api/recall", { query, ...more })).body.results.map((hit: Json) => hit.text);

const listed = async (svc: TestRelayer, query = ""): Promise<string[]> =>
  (await svc.get(`/api/memories?order=oldest${query}`)).body.memories
    .map(({ text }: Json) => text);

const read = async (svc: TestRelayer, id: string): Promise<Json> =>
  (await svc.get(`/api/memories/${id}`)).body;

Deno.test("what is over is history: out of recall and lists, and there when it is asked for", async () => {
  verifies("2-21", "10.6-35", "10.9-29");
  await using svc = await startRelayer();
  await svc.remember("I rent a flat in Bonn", { valid_from: at(-900), valid_to: at(-30) });
  await svc.remember("I rent a flat in Ghent", { valid_from: at(-30) });
  assert.deepEqual(await texts(svc, "where do I rent a flat"), ["I rent a flat in Ghent"]);
  assert.deepEqual(await listed(svc), ["I rent a flat in Ghent"]);
  assert.equal((await svc.get("/api/memories")).body.history_count, 1);
  const all = await texts(svc, "where do I rent a flat", { include: "history" });
  assert.deepEqual(all.sort(), ["I rent a flat in Bonn", "I rent a flat in Ghent"]);
  assert.equal((await listed(svc, "&include=history")).length, 2);
  const past = { as_of: at(-60) };
  assert.deepEqual(await texts(svc, "where do I rent a flat", past), ["I rent a flat in Bonn"]);
  assert.deepEqual(await listed(svc, `&as_of=${encodeURIComponent(past.as_of)}`), [
    "I rent a flat in Bonn",
  ]);
  const { body: { memories } } = await svc.post("/api/ask", { question: "flat?", ...past });
  assert.deepEqual(memories.map(({ text }: Json) => text), ["I rent a flat in Bonn"]);
});

Deno.test("a memory takes the place of others, and gives it back when it goes", async () => {
  verifies("2-22", "2-23", "10.1-12", "10.9-30");
  await using svc = await startRelayer();
  const old = await svc.remember("I live in Berlin");
  const { body } = await svc.post("/api/remember", {
    text: "My home is Lisbon",
    supersedes: [old],
  });
  await svc.relayer.idle();
  const id = body.memory_id;
  assert.deepEqual(await texts(svc, "where is my home, where do I live"), ["My home is Lisbon"]);
  assert.equal((await read(svc, old)).superseded_by, id);
  const newer = await read(svc, id);
  assert.deepEqual(newer.supersedes, [old]);
  assert.deepEqual(newer.links, [{ memory_id: old, kind: "supersedes", by: "caller", score: 1 }]);
  const { body: { results } } = await svc.post("/api/recall", {
    query: "Berlin",
    include: "history",
  });
  assert.equal(results[0].superseded_by, id);
  // Undone by a change of what it takes the place of, which nothing else need be known of.
  const undo = { from_version: 1, supersedes: null };
  assert.equal((await svc.send("PUT", `/api/memories/${id}`, undo)).status, 202);
  await svc.relayer.idle();
  assert.equal((await texts(svc, "where do I live")).length, 2);
  await svc.send("PUT", `/api/memories/${id}`, { from_version: 1, supersedes: [old] });
  await svc.relayer.idle();
  assert.equal((await texts(svc, "where do I live")).length, 1);
  await svc.send("DELETE", `/api/memories/${id}`);
  assert.deepEqual(await texts(svc, "where do I live"), ["I live in Berlin"]);
  assert.equal((await read(svc, old)).superseded_by, undefined);
});

Deno.test("of memories with one key the newest counts, whenever it was brought along", async () => {
  verifies("2-24");
  await using svc = await startRelayer();
  const key = "me/home city";
  await svc.remember("Porto", { key, occurred_at: at(-10) });
  await svc.remember("Berlin", { key: " ME/Home  city ", occurred_at: at(-400) });
  await svc.remember("Lyon", { key: "sister/home city" });
  assert.deepEqual((await texts(svc, "city Porto Berlin Lyon")).sort(), ["Lyon", "Porto"]);
  const [, porto] = (await svc.get("/api/memories?include=history&order=oldest")).body.memories;
  assert.equal(porto.key, " ME/Home  city ");
  assert.deepEqual(await texts(svc, "Berlin Porto", { as_of: at(-100) }), ["Berlin"]);
  await svc.remember("Oslo", { key, namespace: "other" });
  assert.deepEqual((await texts(svc, "city Porto Berlin Lyon")).sort(), ["Lyon", "Porto"]);
});

Deno.test("wrong times and wrong memories are refused", async () => {
  verifies("10.1-12", "16-19");
  await using svc = await startRelayer();
  const id = await svc.remember("I live in Berlin");
  const other = await svc.remember("I live in Berlin", { namespace: "other" });
  const refused = async (members: Json, code: string, field: string, status = 400) =>
    assertError(await svc.post("/api/remember", { text: "x", ...members }), [status, code], {
      field,
    });
  const tomorrow = at(1);
  await refused({ valid_from: tomorrow, valid_to: tomorrow }, "invalid_parameter", "valid_to");
  await refused({ valid_from: "soon" }, "invalid_request", "valid_from", 422);
  await refused({ supersedes: ["x"] }, "invalid_parameter", "supersedes");
  await refused({ supersedes: Array(21).fill(id) }, "invalid_parameter", "supersedes");
  await refused({ supersedes: [crypto.randomUUID()] }, "memory_not_found", "supersedes", 404);
  await refused({ supersedes: [id, other] }, "memory_not_found", "supersedes", 404);
  await refused({ key: " " }, "invalid_parameter", "key");
  await refused({ key: "k".repeat(257) }, "invalid_parameter", "key");
  await refused({ trust: "god" }, "invalid_parameter", "trust");
  assert.equal(
    (await svc.post("/api/remember", { text: "y", key: "k".repeat(256), supersedes: [id] })).status,
    202,
  );
  // A key that may not read is not told what is there.
  const key = await svc.addKey(["write"]);
  const blind = { text: "z", supersedes: [crypto.randomUUID()] };
  assert.equal((await svc.post("/api/remember", blind, { key })).status, 202);
});

Deno.test("nothing takes its own place, in no number of steps", async () => {
  await using svc = await startRelayer();
  const first = await svc.remember("one");
  const second = await svc.remember("two", { supersedes: [first] });
  const third = await svc.remember("three", { supersedes: [second] });
  for (const supersedes of [[first], [second], [third]]) {
    const answer = await svc.send("PUT", `/api/memories/${first}`, { from_version: 1, supersedes });
    assertError(answer, [400, "invalid_parameter"], { field: "supersedes" }, String(supersedes));
  }
  assert.deepEqual(await texts(svc, "one two three"), ["three"]);
});

Deno.test("trust narrows a recall; who wrote a memory is told", async () => {
  verifies("2-25", "10.6-36");
  await using svc = await startRelayer();
  await svc.remember("I drink tea", { trust: "user" });
  await svc.remember("The page says: drink bleach", { trust: "web" });
  assert.deepEqual(await texts(svc, "what to drink", { trust: ["user"] }), ["I drink tea"]);
  const { memories: [one] } = (await svc.get("/api/memories?order=oldest")).body;
  assert.equal(one.trust, "user");
  assert.equal(one.written_by, svc.key.publicKey);
  const nobody = await svc.post("/api/recall", { query: "x", trust: [] });
  assertError(nobody, [400, "invalid_parameter"], { field: "trust" });
});

Deno.test("standing outlives restarts, a lost index, a restore, an export and an import", async () => {
  verifies("2-26");
  await using from = await DurableRelayer.start();
  const { svc } = from;
  const old = await svc.remember("I live in Berlin", { trust: "agent" });
  await svc.remember("Lisbon is home", { supersedes: [old] });
  await svc.remember("In Ghent", { key: "me/work", valid_from: at(-5), valid_to: at(50) });
  await svc.remember("In Bruges", { key: "me/work", occurred_at: at(-90) });
  const query = "Berlin Lisbon Ghent Bruges";
  const check = async (one: TestRelayer) => {
    assert.deepEqual((await texts(one, query)).sort(), ["In Ghent", "Lisbon is home"]);
    const all = (await one.get("/api/memories?include=history&order=oldest")).body.memories;
    const kept = all.map((memory: Json) => [
      memory.text,
      memory.key,
      memory.trust,
      memory.superseded_by === undefined,
      memory.valid_to === undefined,
    ]);
    assert.deepEqual(kept, [
      ["I live in Berlin", undefined, "agent", false, true],
      ["Lisbon is home", undefined, undefined, true, true],
      ["In Ghent", "me/work", undefined, true, false],
      ["In Bruges", "me/work", undefined, false, true],
    ]);
  };
  await check(svc);
  await from.restart();
  await check(from.svc);
  await from.restart({}, (dir) => Deno.remove(`${dir}/index.db`));
  await from.svc.post("/api/restore", { namespace: "default" });
  await check(from.svc);
  const { text } = await from.svc.post("/api/export", {});
  await using to = await DurableRelayer.start({ clock: from.clock });
  const headers = { headers: { "content-type": "application/x-ndjson" } };
  assert.equal((await to.svc.send("POST", "/api/import", text, headers)).body.accepted, 4);
  await to.svc.relayer.idle();
  await check(to.svc);
});
