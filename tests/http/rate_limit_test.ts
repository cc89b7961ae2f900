import assert from "node:assert/strict";
import { DEFAULT_CONFIG, type RateLimitConfig } from "../../src/interfaces/config.ts";
import {
  type Answer,
  type SendOptions,
  startRelayer,
  TestClock,
  type TestRelayer,
} from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { assertError } from "./case.ts";

const ID = "8f14e45f-ceea-467f-a3c1-2b0d6f3a9c11";

/** A relayer whose clock stands still. */
async function limited(limits: Partial<RateLimitConfig>): Promise<TestRelayer> {
  const clock = new TestClock();
  clock.freeze(Math.ceil(Date.now() / 3_600_000) * 3_600_000);
  const rateLimit = { ...DEFAULT_CONFIG.rateLimit, ...limits };
  return await startRelayer({ clock, config: { rateLimit } });
}

/** What is left in a layer, as the header says. */
function left(answer: Answer, layer = "delegate_key"): number {
  const header = answer.headers.get("ratelimit") ?? "";
  return Number(new RegExp(`"${layer}";r=(\\d+);`).exec(header)?.[1] ?? NaN);
}

const stats = (svc: TestRelayer, options: SendOptions = {}) => svc.post("/api/stats", {}, options);

Deno.test("every route has its weight", async () => {
  verifies("7-1", "7-4", "7-5", "7-6", "7-7", "7-8", "7-21", "7-22", "7-23", "7-26");
  await using svc = await limited({});
  const { body: { vector } } = await svc.post("/api/embed", { text: "tea" });
  const weights: readonly (readonly [weight: number, route: string, body?: unknown])[] = [
    [10, "POST /api/remember/bulk", { items: [{ text: "a" }] }],
    [10, "POST /api/remember/bulk", { items: [{ text: "a" }, { text: "b" }] }],
    [10, "POST /api/analyze", { text: "I like tea with my breakfast." }],
    [10, "POST /api/analyze", { text: "ok" }],
    [5, "POST /api/remember", { text: "tea" }],
    [5, `PUT /api/memories/${ID}`, { text: "tea" }],
    [2, "POST /api/ask", { question: "tea" }],
    [3, "POST /api/remember/manual", { encrypted_data: "AAAA", vector }],
    [3, "POST /api/restore", { namespace: "a" }],
    [1, "POST /api/recall", { query: "tea" }],
    [1, "POST /api/recall/manual", { vector }],
    [1, "POST /api/embed", { text: "tea" }],
    [1, "POST /api/stats", {}],
    [1, "POST /api/forget", { namespace: "a" }],
    [1, `POST /api/remember/${ID}/retry`],
    [1, `DELETE /api/memories/${ID}`],
    [0, "POST /api/remember/bulk/status", { job_ids: [ID] }],
    [0, `GET /api/remember/${ID}`],
    [0, "GET /api/account"],
    [0, "GET /api/memories"],
    [0, `GET /api/memories/${ID}`],
    [0, "GET /api/namespaces"],
    [0, "GET /api/review"],
    [5, "POST /api/review", { memory_id: ID, decision: "undo" }],
    [1, "PUT /api/namespaces", { namespace: "a", conflicts: null }],
  ];
  let before = left(await svc.get("/api/account"));
  for (const [weight, route, body] of weights) {
    const [method = "", path = ""] = route.split(" ");
    const after = left(await svc.send(method, path, body));
    assert.equal(before - after, weight, route);
    before = after;
  }
  const lines = { headers: { "content-type": "application/x-ndjson" } };
  assert.equal(before - left(await svc.send("POST", "/api/import", '{"text":"a"}', lines)), 10);
});

Deno.test("a request that fails after the check weighs what it would have", async () => {
  verifies("7-14");
  await using svc = await limited({});
  assert.equal(left(await svc.post("/api/remember", { text: "" })), 595);
  assert.equal(left(await svc.post("/api/remember", "{")), 590);
  const headers = { "idempotency-key": "one" };
  assert.equal(left(await svc.post("/api/remember", { text: "a" }, { headers })), 585);
  const conflict = await svc.post("/api/remember", { text: "b" }, { headers });
  assert.equal(conflict.status, 409);
  assert.equal(left(conflict), 580);
  const denied = await stats(svc, { key: await svc.addKey(["write"]) });
  assert.equal(denied.status, 403);
  assert.equal(left(denied), 600, "refused before the limit");
});

Deno.test("a spent window says which one, and when the request would pass", async () => {
  verifies("7-1", "7-9", "7-15", "7-16", "5-4", "5-6", "4.3-20");
  await using svc = await limited({ keyPerMinute: 12 });
  assert.equal((await svc.post("/api/remember", { text: "a" })).status, 202);
  svc.clock.advance(10_000);
  assert.equal((await svc.post("/api/remember", { text: "b" })).status, 202);
  const denied = await svc.post("/api/remember", { text: "c" });
  assertError(denied, [429, "rate_limited"], {
    layer: "delegate_key",
    limit: "12 weighted-requests/min",
  });
  assert.equal(denied.headers.get("retry-after"), "50");
  assert.equal(left(denied), 2);
  svc.clock.advance(49_000);
  assert.equal((await svc.post("/api/remember", { text: "d" })).status, 429);
  svc.clock.advance(1_000);
  assert.equal((await svc.post("/api/remember", { text: "e" })).status, 202);
});

Deno.test("a denied request consumes nothing in any layer", async () => {
  verifies("7-2", "7-10", "7-11", "7-17");
  await using svc = await limited({ keyPerMinute: 7, accountPerMinute: 9, accountPerHour: 100 });
  const other = await svc.addKey();
  assert.equal((await svc.post("/api/remember", { text: "a" })).status, 202);
  for (let i = 0; i < 3; i++) {
    const denied = await svc.post("/api/remember", { text: "b" });
    assert.equal(denied.body.layer, "delegate_key");
    assert.deepEqual(
      [left(denied), left(denied, "account_burst"), left(denied, "account_sustained")],
      [2, 4, 95],
    );
    const burst = await svc.post("/api/remember", { text: "c" }, { key: other });
    assert.equal(burst.body.layer, "account_burst");
    assert.equal(burst.body.limit, "9 weighted-requests/min");
    assert.equal(left(burst), 7);
  }
  assert.equal((await stats(svc)).status, 200);
});

Deno.test("of several spent windows the slowest counts", async () => {
  verifies("7-15");
  await using svc = await limited({ keyPerMinute: 5, accountPerHour: 5 });
  assert.equal((await svc.post("/api/remember", { text: "a" })).status, 202);
  const denied = await stats(svc);
  assert.equal(denied.body.layer, "account_sustained");
  assert.equal(denied.headers.get("retry-after"), "3600");
});

Deno.test("the hour of an owner slides", async () => {
  verifies("7-11", "7-15", "7-16");
  await using svc = await limited({ accountPerHour: 5 });
  assert.equal((await svc.post("/api/remember", { text: "a" })).status, 202);
  const denied = await stats(svc, { key: await svc.addKey() });
  assertError(denied, [429, "rate_limited"], {
    layer: "account_sustained",
    limit: "5 weighted-requests/hour",
  });
  assert.equal(denied.headers.get("retry-after"), "3600");
  svc.clock.advance(3_599_000);
  assert.equal((await stats(svc)).status, 429);
  svc.clock.advance(1_000);
  assert.equal((await stats(svc)).status, 200);
});

Deno.test("accounts do not share windows", async () => {
  verifies("7-9", "7-10", "7-17");
  await using svc = await limited({ keyPerMinute: 2, accountPerMinute: 3 });
  const { key: stranger } = await svc.addAccount();
  const second = await svc.addKey();
  const codes: number[] = [];
  for (const key of [svc.key, svc.key, svc.key, second, second, stranger, stranger, stranger]) {
    codes.push((await stats(svc, { key })).status);
  }
  assert.deepEqual(codes, [200, 200, 429, 200, 429, 200, 200, 429]);
});

Deno.test("reads are free up to ten a second and key, then weigh 1", async () => {
  verifies("7-8");
  await using svc = await limited({});
  const lefts: number[] = [];
  for (let i = 0; i < 12; i++) lefts.push(left(await svc.get("/api/account")));
  assert.deepEqual(lefts, [...Array(10).fill(600), 599, 598]);
  assert.equal(left(await svc.get("/api/account", { key: await svc.addKey() })), 600);
  svc.clock.advance(1_000);
  assert.equal(left(await svc.post("/api/remember/bulk/status", { job_ids: [ID] })), 598);
});

Deno.test("weights and limits are configurable; the defaults are those of the table", async () => {
  verifies("7-9", "7-10", "7-11", "7-12", "7-14");
  await using svc = await limited({ weights: { "POST /api/stats": 7, "GET /api/account": 2 } });
  const answer = await stats(svc);
  assert.equal(
    answer.headers.get("ratelimit-policy"),
    '"delegate_key";q=600;w=60, "account_sustained";q=20000;w=3600',
  );
  assert.equal(
    answer.headers.get("ratelimit"),
    '"delegate_key";r=593;t=60, "account_sustained";r=19993;t=3600',
  );
  assert.equal(left(await svc.get("/api/account")), 591);
});

Deno.test("answers before authentication say nothing about limits", async () => {
  verifies("7-14");
  await using svc = await limited({});
  const answers = [
    await svc.plain("GET", "/version"),
    await svc.plain("POST", "/api/recall", {}),
    await stats(svc, { headers: { "x-signature": "1".repeat(128) } }),
  ];
  for (const { headers } of answers) {
    assert.equal(headers.get("ratelimit"), null);
    assert.equal(headers.get("ratelimit-policy"), null);
  }
});

Deno.test("replayed answers weigh 1", async () => {
  verifies("7-3", "4.4-20", "6-19");
  await using svc = await limited({});
  const timestamp = svc.clock.seconds;
  const seen: (readonly [left: number, replayed: string | null])[] = [];
  const send = async (options: SendOptions) => {
    const answer = await svc.post("/api/remember", { text: "tea" }, options);
    assert.equal(answer.status, 202);
    seen.push([left(answer), answer.headers.get("idempotency-replayed")]);
  };
  for (let i = 0; i < 3; i++) await send({ form: 4, timestamp });
  for (let i = 0; i < 3; i++) await send({ headers: { "idempotency-key": "one" } });
  assert.deepEqual(seen, [
    [595, null],
    [594, "true"],
    [593, "true"],
    [588, null],
    [587, "true"],
    [586, "true"],
  ]);
});

Deno.test("switched off, the three layers are gone and the look-up limit stays", async () => {
  verifies("7-13", "4.5-18");
  await using svc = await startRelayer({ config: { accountLookupsPerMinute: 2 } });
  for (let i = 0; i < 20; i++) assert.equal((await stats(svc)).status, 200);
  assert.equal((await stats(svc)).headers.get("ratelimit"), null);
  assert.equal((await stats(svc, { key: await svc.addKey() })).status, 200);
  const denied = await stats(svc, { key: await svc.addKey() });
  assert.equal(denied.body.layer, "account_lookup_ip");
});
