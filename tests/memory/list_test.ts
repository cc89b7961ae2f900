import assert from "node:assert/strict";
import { type Json, startRelayer, TestClock, type TestRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";

/** Every page of a listing; `between` runs after each of them. */
async function pages(
  svc: TestRelayer,
  query: string,
  between: () => Promise<unknown> = () => Promise.resolve(),
): Promise<string[][]> {
  const found: string[][] = [];
  let cursor = "";
  do {
    const { status, body } = await svc.get(`/api/memories?${query}${cursor}`);
    assert.equal(status, 200);
    found.push(body.memories.map((memory: Json) => memory.text));
    cursor = body.next_cursor === undefined ? "" : `&cursor=${body.next_cursor}`;
    await between();
  } while (cursor !== "");
  return found;
}

/** Memories one second apart, and some in the same one. */
async function fill(svc: TestRelayer, clock: TestClock, count: number): Promise<string[]> {
  const texts: string[] = [];
  for (let i = 0; i < count; i++) {
    if (i % 3 !== 2) clock.advance(1000);
    texts.push(`fact ${i}`);
    await svc.remember(`fact ${i}`);
  }
  return texts;
}

Deno.test("pages hold each memory once, in order, whatever is inserted meanwhile", async () => {
  verifies("10.9-1", "10.9-3", "10.9-5");
  const clock = new TestClock();
  clock.freeze();
  await using svc = await startRelayer({ clock });
  const texts = await fill(svc, clock, 23);
  let inserted = 0;
  const insert = () => {
    clock.advance(1000);
    return svc.remember(`inserted ${++inserted}`);
  };
  const newest = await pages(svc, "limit=5", insert);
  assert.deepEqual(newest.map((page) => page.length), [5, 5, 5, 5, 3]);
  assert.deepEqual(newest.flat(), texts.toReversed());
  const oldest = (await pages(svc, "limit=4&order=oldest")).flat();
  assert.deepEqual(oldest.slice(0, 23), texts);
  assert.equal(oldest.length, 23 + inserted);
});

Deno.test("a page that was deleted meanwhile does not lose the place", async () => {
  verifies("10.9-5");
  const clock = new TestClock();
  clock.freeze();
  await using svc = await startRelayer({ clock });
  await fill(svc, clock, 10);
  const first = (await svc.get("/api/memories?limit=4")).body;
  for (const { memory_id } of first.memories) {
    await svc.send("DELETE", `/api/memories/${memory_id}`);
  }
  const rest = (await svc.get(`/api/memories?limit=200&cursor=${first.next_cursor}`)).body;
  const texts = rest.memories.map((memory: Json) => memory.text);
  assert.deepEqual(texts, [5, 4, 3, 2, 1, 0].map((i) => `fact ${i}`));
  assert.equal(rest.total, 6);
  assert.equal(rest.next_cursor, undefined);
});

Deno.test("a cursor of another listing, an altered or a made up one is unknown", async () => {
  verifies("10.9-6");
  const clock = new TestClock();
  await using svc = await startRelayer({ clock });
  await fill(svc, clock, 3);
  await svc.remember("elsewhere", { namespace: "other" });
  const { next_cursor } = (await svc.get("/api/memories?limit=1")).body;
  const { key } = await svc.addAccount();
  const middle = next_cursor[20] === "A" ? "B" : "A";
  const altered = next_cursor.slice(0, 20) + middle + next_cursor.slice(21);
  const queries = [
    `order=oldest&cursor=${next_cursor}`,
    `namespace=other&cursor=${next_cursor}`,
    `cursor=${altered}`,
    `cursor=${next_cursor.slice(0, -1)}`,
    "cursor=AAAA",
    "cursor=!",
    "cursor=2026",
  ];
  for (const query of queries) {
    const { status, body } = await svc.get(`/api/memories?${query}`);
    assert.equal(status, 400, query);
    assert.equal(body.code, "invalid_cursor");
    assert.equal(body.field, "cursor");
  }
  const foreign = await svc.get(`/api/memories?cursor=${next_cursor}`, { key });
  assert.equal(foreign.body.code, "invalid_cursor");
  assert.equal((await svc.get(`/api/memories?cursor=${next_cursor}`)).status, 200);
});

Deno.test("text=false opens nothing; everything else stands in a listed memory", async () => {
  verifies("10.9-4", "10.9-16", "10.9-7");
  await using svc = await startRelayer();
  const members = {
    metadata: { a: "b", n: 1, yes: true, nothing: null },
    importance: 0.25,
    occurred_at: "2026-01-02T03:04:05+01:00",
    expires_at: "2100-01-01T00:00:00Z",
    namespace: "mine",
  };
  const id = await svc.remember("the text", members);
  const bare = (await svc.get("/api/memories?namespace=mine&text=false")).body.memories[0];
  assert.equal("text" in bare || "metadata" in bare, false);
  const full = (await svc.get("/api/memories?namespace=mine")).body.memories[0];
  const { created_at, updated_at, blob_id, size_bytes, ...rest } = full;
  assert.deepEqual(rest, {
    memory_id: id,
    namespace: "mine",
    text: "the text",
    status: "done",
    recallable: true,
    version: 1,
    importance: 0.25,
    metadata: members.metadata,
    occurred_at: "2026-01-02T02:04:05.000Z",
    expires_at: "2100-01-01T00:00:00.000Z",
    source: "remember",
    written_by: svc.key.publicKey,
    written_by_label: "test",
  });
  assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.equal(updated_at, created_at);
  assert.ok(blob_id.length > 0 && size_bytes > "the text".length);
  const { versions, ...one } = (await svc.get(`/api/memories/${id}`)).body;
  assert.deepEqual(one, full);
  assert.deepEqual(versions, [{ version: 1, blob_id, created_at }]);
});

Deno.test("an empty namespace has no pages", async () => {
  await using svc = await startRelayer();
  assert.deepEqual((await svc.get("/api/memories")).body, { memories: [], total: 0 });
});

Deno.test("a list may be of the memories whose id ends with something", async () => {
  verifies("10.9-28");
  await using svc = await startRelayer();
  const ids = [await svc.remember("tea"), await svc.remember("coffee")];
  const found = async (id: string) =>
    (await svc.get(`/api/memories?id=${id}`)).body.memories.map(({ memory_id }: Json) => memory_id);
  assert.deepEqual(await found(ids[0]!.slice(-8)), [ids[0]]);
  assert.deepEqual(await found(ids[1]!.toUpperCase()), [ids[1]]);
  assert.deepEqual(await found("00000000"), []);
  for (const id of ["1234567", "x".repeat(8), "%25".repeat(8)]) {
    const { status, body } = await svc.get(`/api/memories?id=${id}`);
    assert.deepEqual([status, body.code, body.field], [400, "invalid_parameter", "id"]);
  }
});
