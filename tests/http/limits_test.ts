import assert from "node:assert/strict";
import { type Json, startRelayer, type TestRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { assertError } from "./case.ts";

const TEXT = 1_048_576;
const QUERY = 65_536;

async function refused(
  svc: TestRelayer,
  target: string,
  body: Json,
  code: string,
  field: string,
): Promise<void> {
  assertError(await svc.post(target, body), [400, code], { field }, target);
}

async function accepted(svc: TestRelayer, target: string, body: Json): Promise<Json> {
  const answer = await svc.post(target, body);
  assert.ok(answer.status < 300, `${target}: ${answer.status} ${answer.body.code}`);
  return answer.body;
}

Deno.test("texts may have exactly 1 MiB of UTF-8", async () => {
  verifies("16-1", "16-13", "10.1-1", "10.7-13", "5-10");
  await using svc = await startRelayer();
  for (const letter of ["a", "é", "€", "😀"]) {
    const size = new TextEncoder().encode(letter).length;
    const most = letter.repeat(Math.floor(TEXT / size)).padEnd(
      Math.floor(TEXT / size) * letter.length + TEXT % size,
      "a",
    );
    assert.equal(new TextEncoder().encode(most).length, TEXT);
    await refused(svc, "/api/embed", { text: most + "a" }, "text_too_long", "text");
    await accepted(svc, "/api/embed", { text: most });
  }
  const most = "tea ".repeat(TEXT / 4);
  await refused(svc, "/api/remember", { text: most + "a" }, "text_too_long", "text");
  const items = [{ text: "a" }, { text: most + "a" }];
  await refused(svc, "/api/remember/bulk", { items }, "text_too_long", "items[1].text");
  await accepted(svc, "/api/remember", { text: most });
  await accepted(svc, "/api/remember/bulk", { items: [{ text: most }] });
  await svc.relayer.idle();
  const [first, second] = await svc.recall("tea");
  assert.ok(first === most && second === most);
});

Deno.test("queries may have exactly 64 KiB of UTF-8", async () => {
  verifies("16-2", "16-13", "10.6-1", "5-10");
  await using svc = await startRelayer();
  for (const letter of ["a", "é", "😀"]) {
    const size = new TextEncoder().encode(letter).length;
    const most = letter.repeat(QUERY / size);
    await accepted(svc, "/api/recall", { query: most });
    await refused(svc, "/api/recall", { query: most + "a" }, "query_too_long", "query");
  }
});

Deno.test("a text to analyze and a question may have exactly 64 KiB of UTF-8", async () => {
  verifies("16-15", "10.5-1", "10.7-8", "5-10");
  await using svc = await startRelayer();
  for (const letter of ["a", "é", "😀"]) {
    const most = letter.repeat(QUERY / new TextEncoder().encode(letter).length);
    await accepted(svc, "/api/analyze", { text: most });
    await refused(svc, "/api/analyze", { text: most + "a" }, "text_too_long", "text");
    await accepted(svc, "/api/ask", { question: most });
    await refused(svc, "/api/ask", { question: most + "a" }, "query_too_long", "question");
  }
  const lines = Array.from({ length: 100 }, (_, n) => `My locker number ${n} opens at ${n}:15.`);
  const { total } = await accepted(svc, "/api/analyze", { text: lines.join("\n") });
  assert.equal(total, 20);
  await svc.relayer.idle();
});

Deno.test("bulk takes 20 items, bulk status 20 ids", async () => {
  verifies("16-3", "16-4", "10.3-1", "10.3-2", "10.3-5", "5-11");
  await using svc = await startRelayer();
  const items = Array.from({ length: 21 }, (_, index) => ({ text: `tea ${index}` }));
  await refused(svc, "/api/remember/bulk", { items }, "too_many_items", "items");
  const body = await accepted(svc, "/api/remember/bulk", { items: items.slice(1) });
  assert.equal(body.total, 20);
  const ids: string[] = body.job_ids;
  const status = await accepted(svc, "/api/remember/bulk/status", { job_ids: ids });
  assert.equal(status.results.length, 20);
  const more = { job_ids: [...ids, "x"] };
  await refused(svc, "/api/remember/bulk/status", more, "too_many_job_ids", "job_ids");
  await svc.relayer.idle();
});

Deno.test("a recall's limit is 10 unless given, and at most 100", async () => {
  verifies("16-5", "10.6-2", "10.7-4");
  await using svc = await startRelayer();
  const items = (from: number) =>
    Array.from({ length: 20 }, (_, index) => ({ text: `tea number ${from + index}` }));
  for (let i = 0; i < 6; i++) await accepted(svc, "/api/remember/bulk", { items: items(i * 20) });
  await svc.relayer.idle();
  const { body: { vector } } = await svc.post("/api/embed", { text: "tea" });
  for (
    const [target, query] of [
      ["/api/recall", { query: "tea" }],
      ["/api/recall/manual", { vector }],
    ] as const
  ) {
    const totals: number[] = [];
    for (const limit of [undefined, 0, 1, 100, 101, 1e9]) {
      const body = await accepted(svc, target, { ...query, limit });
      assert.equal(body.results.length, body.total);
      totals.push(body.total);
    }
    assert.deepEqual(totals, [10, 0, 1, 100, 100, 100], target);
  }
});

Deno.test("a restore's limit is 50 unless given, and at most 500", async () => {
  verifies("16-6", "10.8-2");
  await using svc = await startRelayer();
  await svc.remember("tea", { namespace: "a" });
  for (const limit of [undefined, 0, 500, 501, 1e9]) {
    const body = await accepted(svc, "/api/restore", { namespace: "a", limit });
    assert.deepEqual(
      [body.restored, body.skipped, body.total, body.failed, body.remaining],
      [0, 1, 1, 0, 0],
    );
  }
});

Deno.test("a page has 1 to 200 memories, 1 to 1000 namespaces", async () => {
  verifies("16-7", "16-14", "10.9-2", "10.10-2");
  await using svc = await startRelayer();
  for (const [path, most] of [["/api/memories", 200], ["/api/namespaces", 1000]] as const) {
    for (const limit of [1, most]) {
      assert.equal((await svc.get(`${path}?limit=${limit}`)).status, 200);
    }
    for (const limit of [0, most + 1]) {
      assertError(
        await svc.get(`${path}?limit=${limit}`),
        [400, "invalid_parameter"],
        { field: "limit" },
      );
    }
  }
});

Deno.test("a namespace has at most 256 bytes of UTF-8", async () => {
  verifies("16-8", "16-13", "2-10", "2-11", "5-12");
  await using svc = await startRelayer();
  const longest = ["a".repeat(256), "é".repeat(128), "😀".repeat(64), " ".repeat(256)];
  for (const namespace of [...longest, " Ä ", "a/b", "../x", "%00", "DEFAULT"]) {
    assert.equal((await accepted(svc, "/api/stats", { namespace })).namespace, namespace);
  }
  for (const longer of longest) {
    const namespace = longer + "a";
    await refused(svc, "/api/stats", { namespace }, "invalid_namespace", "namespace");
    await refused(svc, "/api/forget", { namespace }, "invalid_namespace", "namespace");
    const query = new URLSearchParams({ namespace });
    assertError(
      await svc.get(`/api/memories?${query}`),
      [400, "invalid_namespace"],
      { field: "namespace" },
    );
  }
});

Deno.test("metadata has at most 4 KiB as JSON", async () => {
  verifies("16-9", "16-13", "10.1-5", "5-12");
  await using svc = await startRelayer();
  for (const letter of ["a", "é", "😀"]) {
    const size = new TextEncoder().encode(letter).length;
    const overhead = '{"a":""}'.length;
    const a = letter.repeat(Math.floor((4096 - overhead) / size));
    assert.equal(new TextEncoder().encode(JSON.stringify({ a })).length, 4096);
    await accepted(svc, "/api/remember", { text: "tea", metadata: { a } });
    const metadata = { a: a + "b" };
    await refused(svc, "/api/remember", { text: "tea", metadata }, "invalid_metadata", "metadata");
  }
  await svc.relayer.idle();
});

Deno.test("an idempotency key has 1 to 128 visible ASCII characters", async () => {
  verifies("16-10", "6-9");
  await using svc = await startRelayer();
  const send = (key: string) =>
    svc.post("/api/remember", { text: "tea" }, { headers: { "idempotency-key": key } });
  const visible = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index)).join(
    "",
  );
  for (const key of ["a", "b".repeat(128), visible]) assert.equal((await send(key)).status, 202);
  for (const key of ["b".repeat(129), "a b", "ä", "a\tb"]) {
    assertError(await send(key), [400, "invalid_idempotency_key"], {}, key);
  }
  assert.equal((await send("")).status, 202, "an empty one counts as absent");
});

Deno.test("numbers may lie on their bounds", async () => {
  verifies("10.1-6", "10.6-9", "3-3");
  await using svc = await startRelayer();
  for (const importance of [0, 1]) {
    await accepted(svc, "/api/remember", { text: "tea", importance });
  }
  const bounds = [
    { semantic: 0, recency: 0, importance: 0, recency_half_life_days: 1e-6 },
    { semantic: 100, recency: 100, importance: 100, recency_half_life_days: 1e6 },
    {},
  ];
  for (const scoring_weights of bounds) {
    await accepted(svc, "/api/recall", { query: "tea", scoring_weights });
  }
});
