import assert from "node:assert/strict";
import { DEFAULT_CONFIG } from "../../src/interfaces/config.ts";
import { ANSWER_BYTES, countThatFits, partsOf } from "../../src/memory/large_reads.ts";
import { TEXT_BYTES } from "../../src/wire/limits.ts";
import type { IndexedMemory } from "../../src/index/ranking.ts";
import { type Json, startRelayer, type TestRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";

/** Remembers texts of nearly a MiB each, oldest first. */
async function rememberLarge(svc: TestRelayer, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const text = `letter ${n} `.padEnd(TEXT_BYTES - 1000, "tea and toast ");
    ids.push((await svc.post("/api/remember", { text })).body.memory_id);
    await svc.relayer.idle();
  }
  return ids;
}

Deno.test("a page ends before it is larger than 4 MiB, and the next one goes on", async () => {
  verifies("10.9-19");
  await using svc = await startRelayer();
  const ids = await rememberLarge(svc, 6);
  const seen: string[] = [];
  const sizes: number[] = [];
  for (let cursor = "";;) {
    const query = `limit=200&order=oldest${cursor && `&cursor=${cursor}`}`;
    const { status, body } = await svc.get(`/api/memories?${query}`);
    assert.equal(status, 200);
    assert.equal(body.total, 6);
    sizes.push(body.memories.length);
    seen.push(...body.memories.map(({ memory_id }: Json) => memory_id));
    if (body.next_cursor === undefined) break;
    cursor = body.next_cursor;
  }
  assert.deepEqual(seen, ids);
  assert.deepEqual(sizes, [4, 2]);
  const short = await svc.get("/api/memories?limit=200&text=false");
  assert.equal(short.body.memories.length, 6);
});

Deno.test("a recall leaves out what would make its answer larger than 4 MiB, and says so", async () => {
  verifies("10.6-34");
  await using svc = await startRelayer();
  await rememberLarge(svc, 5);
  const { body } = await svc.post("/api/recall", { query: "letter with toast", limit: 100 });
  assert.equal(body.results.length, 4);
  assert.deepEqual([body.total, body.truncated], [4, true]);
  const few = await svc.post("/api/recall", { query: "letter with toast", limit: 4 });
  assert.deepEqual([few.body.total, few.body.truncated], [4, undefined]);
  const ids = ({ results }: Json) => results.map(({ memory_id }: Json) => memory_id);
  assert.deepEqual(ids(few.body), ids(body));
});

Deno.test("a large answer weighs more, and is charged afterwards", async () => {
  verifies("7-28");
  const { rateLimit: limits } = DEFAULT_CONFIG;
  const rateLimit = { ...limits, keyPerMinute: 28, freeReadsPerSecond: 0 };
  await using svc = await startRelayer({ config: { rateLimit } });
  await rememberLarge(svc, 2); // 5 each
  const left = (headers: Headers) =>
    Number(/"delegate_key";r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]);
  const small = await svc.get("/api/memories?text=false");
  assert.equal(left(small.headers), 17);
  const large = await svc.get("/api/memories");
  assert.equal(large.status, 200);
  // 1 for the request and 7 for what is above 256 KiB.
  assert.equal(left(large.headers), 9);
  assert.equal((await svc.get("/api/memories")).status, 200);
  assert.equal((await svc.get("/api/memories")).status, 200);
  assert.equal((await svc.get("/api/memories")).status, 429);
});

Deno.test("as many memories are answered as fit, at least one", () => {
  const sized = (...sizes: number[]) => sizes.map((bytes) => ({ bytes }));
  assert.equal(countThatFits([]), 0);
  assert.equal(countThatFits(sized(ANSWER_BYTES + 1, 1)), 1);
  assert.equal(countThatFits(sized(ANSWER_BYTES - 1, 1, 1)), 2);
  assert.equal(countThatFits(sized(1, 1, 1)), 3);
});

Deno.test("parts keep the order and hold 512 KiB, or one memory", () => {
  const memory = (bytes: number) => ({ bytes }) as IndexedMemory;
  const sizes = (parts: Iterable<IndexedMemory[]>) =>
    [...parts].map((part) => part.map(({ bytes }) => bytes));
  const kib = 1024;
  const memories = [200, 312, 1, 600, 1, 2].map((size) => memory(size * kib));
  const inKib = sizes(partsOf(memories)).map((part) => part.map((size) => size / kib));
  assert.deepEqual(inKib, [[200, 312], [1], [600], [1, 2]]);
  assert.deepEqual(sizes(partsOf([1, 2, 3].map(memory), 2)), [[1, 2], [3]]);
  assert.deepEqual(sizes(partsOf([])), []);
});
