import assert from "node:assert/strict";
import { type Json, startRelayer, TestClock, type TestRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";

const DAY = 86_400_000;

/** A unit vector at so many degrees from the first axis. */
function at(degrees: number): number[] {
  const angle = degrees * Math.PI / 180;
  return [Math.cos(angle), Math.sin(angle), ...Array(254).fill(0)];
}

/** Stores a memory at an angle and answers its id. */
async function put(svc: TestRelayer, degrees: number, members: Json = {}): Promise<string> {
  const body = { encrypted_data: "AAAA", vector: at(degrees), ...members };
  return (await svc.post("/api/remember/manual", body)).body.id;
}

async function find(svc: TestRelayer, members: Json = {}): Promise<Json[]> {
  const { status, body } = await svc.post("/api/recall/manual", { vector: at(0), ...members });
  assert.equal(status, 200);
  assert.equal(body.total, body.results.length);
  return body.results;
}

const idsOf = (hits: Json[]): string[] => hits.map((hit) => hit.memory_id);

function close(actual: number, expected: number): void {
  assert.ok(Math.abs(actual - expected) < 1e-4, `${actual} is not ${expected}`);
}

Deno.test("distance is 1 - cosine, score max(0, 1 - distance), best first", async () => {
  verifies("10.6-15", "10.6-16", "10.6-17");
  await using svc = await startRelayer();
  const degrees = [60, 0, 180, 85, 30];
  const ids = await Promise.all(degrees.map((d) => put(svc, d)));
  const hits = await find(svc);
  assert.deepEqual(idsOf(hits).slice(0, 4), [ids[1], ids[4], ids[0], ids[3]]);
  for (const hit of hits) {
    const cosine = Math.cos(degrees[ids.indexOf(hit.memory_id)]! * Math.PI / 180);
    close(hit.distance, 1 - cosine);
    close(hit.score, Math.max(0, cosine));
  }
});

Deno.test("limit 0 finds nothing, above 100 counts as 100", async () => {
  verifies("10.6-2", "10.7-4");
  await using svc = await startRelayer();
  const items = Array.from({ length: 20 }, (_, i) => ({ text: `tea ${i}` }));
  for (let i = 0; i < 6; i++) {
    await svc.post("/api/remember/bulk", { items });
    await svc.relayer.idle();
  }
  for (const path of ["/api/recall", "/api/recall/manual"]) {
    const search = (limit?: number) =>
      svc.post(path, { query: "tea", vector: at(0), ...(limit === undefined ? {} : { limit }) });
    const none = (await search(0)).body;
    assert.deepEqual(none.results, []);
    assert.equal(none.total, 0);
    assert.equal((await search()).body.total, 10);
    assert.equal((await search(100)).body.total, 100);
    assert.equal((await search(101)).body.total, 100);
    assert.equal((await search(1e9)).body.total, 100);
  }
});

Deno.test("max_distance keeps what is closer, min_score what is as good", async () => {
  verifies("10.6-7", "10.6-8");
  await using svc = await startRelayer();
  const ids = [await put(svc, 0), await put(svc, 60), await put(svc, 90)];
  assert.deepEqual(idsOf(await find(svc, { max_distance: 0.9 })), ids.slice(0, 2));
  const [, exact] = await find(svc);
  assert.deepEqual(idsOf(await find(svc, { max_distance: exact.distance })), ids.slice(0, 1));
  assert.deepEqual(idsOf(await find(svc, { max_distance: 0 })), []);

  await svc.remember("green tea");
  await svc.remember("green tea or black coffee");
  const search = (members: Json) => svc.post("/api/recall", { query: "green tea", ...members });
  const hits = (await search({})).body.results;
  assert.equal(hits.length, 2);
  const score = Math.min(hits[0].score, hits[1].score);
  assert.equal((await search({ min_score: score })).body.total, 2);
  assert.equal((await search({ min_score: score + 1e-9 })).body.total, 1);
  assert.equal((await search({ min_score: 2 })).body.message, "No matching memories found");
});

Deno.test("strong hits do not tie under weights, and what happened long ago is old", async () => {
  verifies("10.6-37");
  const clock = new TestClock();
  await using svc = await startRelayer({ clock });
  const best = await svc.remember("my green tea comes from the hills of Darjeeling in spring");
  clock.advance(30 * DAY);
  const other = await svc.remember("my green tea comes from the hills of Darjeeling");
  const query = "my green tea comes from the hills of Darjeeling in spring";
  const search = (weights: Json) =>
    svc.post("/api/recall", { query, scoring_weights: weights }).then(({ body }) => body.results);
  assert.equal((await search({}))[1].score, 1);
  assert.deepEqual(idsOf(await search({ recency: 0.01 })), [best, other]);
  assert.deepEqual(idsOf(await search({ recency: 100 })), [other, best]);
  // Imported yesterday, it happened years ago.
  await svc.send("PUT", `/api/memories/${other}`, {
    from_version: 1,
    occurred_at: new Date(clock.now() - 3000 * DAY).toISOString(),
  });
  await svc.relayer.idle();
  assert.deepEqual(idsOf(await search({ recency: 100 })), [best, other]);
});

Deno.test("equally good hits: newer first, then by id", async () => {
  verifies("10.6-16");
  const clock = new TestClock();
  clock.freeze();
  await using svc = await startRelayer({ clock });
  const older = [await put(svc, 0), await put(svc, 0), await put(svc, 0)];
  clock.advance(1000);
  const newer = [await put(svc, 0), await put(svc, 0)];
  const expected = [...newer.sort(), ...older.sort()];
  assert.deepEqual(idsOf(await find(svc)), expected);
  assert.deepEqual(idsOf(await find(svc, { limit: 3 })), expected.slice(0, 3));
  const weights = { semantic: 1, importance: 0.5 };
  assert.deepEqual(idsOf(await find(svc, { scoring_weights: weights })), expected);
});

Deno.test("weights follow the formula", async () => {
  verifies("10.6-18", "10.6-19");
  const clock = new TestClock();
  clock.freeze();
  await using svc = await startRelayer({ clock });
  const old = await put(svc, 30, { importance: 0.9 });
  clock.advance(60 * DAY);
  const young = await put(svc, 60, { importance: 0.2 });
  const score = async (scoring_weights: Json) => {
    const hits = await find(svc, { scoring_weights });
    return (id: string) => hits.find((hit) => hit.memory_id === id)!.score;
  };
  const [near, far] = [Math.cos(Math.PI / 6), Math.cos(Math.PI / 3)];
  const recency = await score({ semantic: 0, recency: 2 });
  close(recency(old), 2 * 0.25);
  close(recency(young), 2);
  const all = await score({
    semantic: 3,
    recency: 1,
    recency_half_life_days: 60,
    importance: 10,
  });
  close(all(old), 3 * near + 0.5 + 9);
  close(all(young), 3 * far + 1 + 2);
  const neither = await score({ semantic: 50, recency: 0, importance: 0 });
  close(neither(old), near);
  close(neither(young), far);
  const [first] = await find(svc, { scoring_weights: { semantic: 0, recency: 1 }, limit: 1 });
  assert.equal(first.memory_id, young);
});

Deno.test("weights bring up what stands far below the limit", async () => {
  verifies("10.6-20");
  await using svc = await startRelayer();
  const puts: Promise<string>[] = [];
  for (let i = 0; i < 150; i++) puts.push(put(svc, i / 10));
  await Promise.all(puts);
  const important = await put(svc, 40, { importance: 1 });
  const weights = { semantic: 1, importance: 5 };
  const hits = await find(svc, { scoring_weights: weights, limit: 1 });
  assert.deepEqual(idsOf(hits), [important]);
});

Deno.test("time filters use occurred_at, else created_at; after <= t < before", async () => {
  verifies("10.6-10");
  const clock = new TestClock();
  clock.freeze(Date.parse("2026-03-01T12:00:00Z"));
  await using svc = await startRelayer({ clock });
  await svc.remember("tea in january", { occurred_at: "2026-01-15T00:00:00Z" });
  await svc.remember("tea in february", { occurred_at: "2026-02-15T00:00:00Z" });
  await svc.remember("tea now");
  const search = async (members: Json) => (await svc.recall("tea", members)).sort();
  const [january, february, now] = ["tea in january", "tea in february", "tea now"];
  assert.deepEqual(await search({ occurred_after: "2026-02-15T00:00:00Z" }), [february, now]);
  assert.deepEqual(await search({ occurred_before: "2026-02-15T00:00:00Z" }), [january]);
  const both = { occurred_after: "2026-02-01T00:00:00Z", occurred_before: "2026-03-01T12:00:00Z" };
  assert.deepEqual(await search(both), [february]);
  assert.deepEqual(await search({ occurred_after: "2026-03-01T12:00:00Z" }), [now]);
  assert.deepEqual(await search({ occurred_after: "2027-01-01T00:00:00Z" }), []);
});
