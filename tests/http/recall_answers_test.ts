import assert from "node:assert/strict";
import { type Json, startRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";

Deno.test("a hit has its members, and no others", async () => {
  verifies("10.6-11", "10.6-12", "10.6-13", "10.6-15", "10.6-17", "2-3", "2-5", "2-17");
  await using svc = await startRelayer();
  const metadata = { a: 1, b: "ä", c: true, d: null };
  const plain = await svc.remember("green tea");
  const full = await svc.remember("black tea", {
    metadata,
    importance: 0.25,
    occurred_at: "2026-01-02T03:04:05+02:00",
  });
  const { status, body } = await svc.post("/api/recall", { query: "tea", mode: "semantic" });
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(body), ["results", "total"]);
  assert.equal(body.total, 2);
  const byId = new Map<string, Json>(body.results.map((hit: Json) => [hit.memory_id, hit]));
  for (
    const [id, text, more] of [
      [plain, "green tea", { importance: 0.5 }],
      [full, "black tea", { importance: 0.25, occurred_at: "2026-01-02T01:04:05.000Z", metadata }],
    ] as const
  ) {
    const hit = byId.get(id);
    const { blob_id, distance, score, created_at } = hit;
    assert.deepEqual(hit, {
      blob_id,
      text,
      distance,
      score,
      memory_id: id,
      namespace: "default",
      created_at,
      written_by: svc.key.publicKey,
      written_by_label: "test",
      ...more,
    });
    assert.ok(blob_id.length > 0);
    assert.ok(distance > 0 && distance < 1);
    assert.ok(Math.abs(score - (1 - distance)) < 1e-9);
    assert.equal(new Date(created_at).toISOString(), created_at);
  }
});

Deno.test("texts come back byte for byte", async () => {
  verifies("2-2", "2-5", "10.1-2");
  await using svc = await startRelayer();
  const texts = [
    "  spaces around \t",
    "line\r\nline\u2028line\n",
    "NUL\u0000 and \u001b",
    "é and e\u0301 and ﬁ",
    "👩‍👩‍👧‍👦 \ufeff\u200b",
    '{"json": "\\u0041"}',
    "\ud83d\ude00",
  ];
  for (const [index, text] of texts.entries()) {
    const namespace = `n${index}`;
    const metadata = { [text]: text };
    await svc.remember(text, { namespace, metadata });
    const { body } = await svc.post("/api/recall", { query: text, namespace });
    assert.equal(body.results[0].text, text);
    assert.deepEqual(body.results[0].metadata, metadata);
  }
});

Deno.test("an empty result says so", async () => {
  verifies("1-1", "10.6-29", "10.6-2");
  await using svc = await startRelayer();
  const nothing = { results: [], total: 0, message: "No matching memories found" };
  assert.deepEqual((await svc.post("/api/recall", { query: "tea" })).body, nothing);
  await svc.remember("tea");
  const empty = [{ limit: 0 }, { namespace: "other" }, { min_score: 2 }, { max_distance: 0 }];
  for (const members of empty) {
    const { body } = await svc.post("/api/recall", { query: "tea", ...members });
    assert.deepEqual(body, nothing, JSON.stringify(members));
  }
});

Deno.test("namespaces are compared byte for byte", async () => {
  verifies("2-10", "10.6-25");
  await using svc = await startRelayer();
  const names = ["a", "A", " a", "a ", "é", "e\u0301", "default", "Default", "a/b", "a%2Fb"];
  for (const name of names) await svc.remember(`tea in ${name}`, { namespace: name });
  for (const name of names) {
    assert.deepEqual(await svc.recall("tea", { namespace: name }), [`tea in ${name}`]);
  }
  assert.deepEqual(await svc.recall("tea"), ["tea in default"]);
});

Deno.test("distance, score and time narrow a recall", async () => {
  verifies("10.6-7", "10.6-8", "10.6-10", "10.6-16");
  await using svc = await startRelayer();
  await svc.remember("tea", { occurred_at: "2026-01-01T00:00:00Z" });
  await svc.remember("tea tea honey", { occurred_at: "2026-01-02T00:00:00Z" });
  await svc.remember("tea with honey and milk", { occurred_at: "2026-01-03T00:00:00Z" });
  const mode = "semantic";
  const { body } = await svc.post("/api/recall", { query: "tea", mode });
  const hits: Json[] = body.results;
  assert.deepEqual(hits.map(({ text }) => text), [
    "tea",
    "tea tea honey",
    "tea with honey and milk",
  ]);
  assert.ok(hits[0].score > hits[1].score && hits[1].score > hits[2].score);
  const texts = (members: Json) => svc.recall("tea", { mode, ...members });
  assert.deepEqual(await texts({ max_distance: hits[1].distance }), ["tea"], "below the value");
  assert.deepEqual(await texts({ min_score: hits[1].score }), ["tea", "tea tea honey"]);
  assert.equal((await texts({ max_distance: 2.1 })).length, 3);
  const second = { occurred_after: "2026-01-02T00:00:00Z" };
  assert.deepEqual(await texts(second), ["tea tea honey", "tea with honey and milk"]);
  assert.deepEqual(await texts({ occurred_before: "2026-01-02T00:00:00Z" }), ["tea"]);
  assert.deepEqual(await texts({ ...second, occurred_before: "2026-01-03T00:00:00Z" }), [
    "tea tea honey",
  ]);
  assert.deepEqual(await texts({ limit: 1 }), ["tea"]);
});

Deno.test("of equal scores the newer memory comes first, then the lesser id", async () => {
  verifies("10.6-16");
  await using svc = await startRelayer();
  svc.clock.freeze();
  const older = [await svc.remember("tea"), await svc.remember("tea")].toSorted();
  svc.clock.advance(1);
  const newer = [await svc.remember("tea"), await svc.remember("tea")].toSorted();
  const { body } = await svc.post("/api/recall", { query: "tea" });
  assert.deepEqual(body.results.map((hit: Json) => hit.memory_id), [...newer, ...older]);
});

Deno.test("weights change the score as the formula says", async () => {
  verifies("10.6-9", "10.6-18", "10.6-19");
  await using svc = await startRelayer();
  svc.clock.freeze();
  await svc.remember("tea", { importance: 0.2 });
  svc.clock.advance(30 * 86_400_000);
  const hit = async (scoring_weights?: Json) => {
    const { body } = await svc.post("/api/recall", { query: "tea leaves", scoring_weights });
    return body.results[0];
  };
  const { score: r } = await hit();
  for (
    const [weights, expected] of [
      [{}, r],
      [{ semantic: 3 }, r],
      [{ semantic: 0, importance: 1 }, 0.2],
      [{ recency: 1 }, r + 0.5],
      [{ recency: 1, recency_half_life_days: 15 }, r + 0.25],
      [{ semantic: 2, recency: 4, importance: 10 }, 2 * r + 4 * 0.5 + 10 * 0.2],
    ] as const
  ) {
    const { score } = await hit(weights);
    assert.ok(Math.abs(score - expected) < 1e-6, `${JSON.stringify(weights)}: ${score}`);
  }
});

Deno.test("manual recall answers identifiers and distances only", async () => {
  verifies("10.7-1", "10.7-2", "10.7-4");
  await using svc = await startRelayer();
  const id = await svc.remember("tea");
  const { body: { vector } } = await svc.post("/api/embed", { text: "tea" });
  const doubled = vector.map((value: number) => value * 2);
  const { status, body } = await svc.post("/api/recall/manual", { vector: doubled });
  assert.equal(status, 200);
  const [{ blob_id, distance, created_at, score }] = body.results;
  assert.deepEqual(body, {
    results: [{
      blob_id,
      distance,
      created_at,
      importance: 0.5,
      memory_id: id,
      namespace: "default",
      score,
    }],
    total: 1,
  });
  assert.ok(Math.abs(distance) < 1e-6 && Math.abs(score - 1) < 1e-6);
  assert.ok(blob_id.length > 0);
  const { body: none } = await svc.post("/api/recall/manual", { vector, max_distance: 0 });
  assert.deepEqual(none, { results: [], total: 0 });
});

Deno.test("a restore's counts add up", async () => {
  verifies("10.8-5", "10.8-6", "10.8-11");
  await using svc = await startRelayer();
  const counts = async (namespace: string) => (await svc.post("/api/restore", { namespace })).body;
  const answer = (total: number, namespace: string) => ({
    restored: 0,
    skipped: total,
    total,
    failed: 0,
    remaining: 0,
    namespace,
    owner: svc.owner,
  });
  assert.deepEqual(await counts("nothing"), answer(0, "nothing"));
  await svc.remember("tea", { namespace: "a" });
  await svc.remember("honey", { namespace: "a" });
  assert.deepEqual(await counts("a"), answer(2, "a"));
  assert.deepEqual(await counts("a"), answer(2, "a"));
});
