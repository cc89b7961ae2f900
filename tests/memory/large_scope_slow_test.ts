import assert from "node:assert/strict";
import { memoryVectorStore } from "../../plugins/memory/vector_store.ts";
import type { IndexEntry, VectorStore } from "../../src/interfaces/mod.ts";
import { startRelayer, type TestRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { intercepted } from "./intercepted.ts";

const FILLERS = 20_001;
const LONG_AGO = Date.parse("2001-01-01");
const BUDGET = 16 * 1024 * 1024;

/** Rows that no text of the tests is near to. */
async function fill(
  store: VectorStore,
  owner: string,
  count = FILLERS,
  bytes = 100,
): Promise<void> {
  const vector = new Float32Array(256);
  vector[0] = -1;
  const entries = Array.from({ length: count }, (_, i): IndexEntry => ({
    owner,
    namespace: "default",
    id: `filler-${i}`,
    version: 1,
    vectors: [vector],
    payload: new Uint8Array(),
    keyId: "0".repeat(32),
    createdAt: LONG_AGO,
    updatedAt: LONG_AGO,
    importance: 0.5,
    source: "remember",
    bytes,
  }));
  await store.upsert(entries);
}

/** A relayer with a namespace that is too large for its index, and how often that is read whole. */
async function large(
  ...sizes: [count?: number, bytes?: number]
): Promise<{ svc: TestRelayer; scans: () => number }> {
  let scans = 0;
  const vectorStore = intercepted(memoryVectorStore(), {
    scan: (next, ...args) => {
      scans++;
      return next(...args);
    },
  });
  const svc = await startRelayer({
    config: { indexMemoryBytes: BUDGET },
    backends: { vectorStore },
  });
  await fill(vectorStore, svc.owner, ...sizes);
  return { svc, scans: () => scans };
}

Deno.test("a namespace above the budget is searched among its nearest memories", async () => {
  verifies("10.6-22", "10.6-25");
  const { svc, scans } = await large();
  await using _ = svc;
  await svc.remember("the heron stands in the lake");
  await svc.remember("a bicycle in the garden", { occurred_at: "2020-05-01T00:00:00Z" });
  const gone = await svc.remember("the heron is gone");
  await svc.send("DELETE", `/api/memories/${gone}`);
  await svc.remember("secret heron", { namespace: "other" });
  // The deletion has loaded it; over the budget it gives way to whatever is read next.
  await svc.recall("heron", { namespace: "other" });
  const before = scans();
  for (const mode of ["hybrid", "semantic", "keyword"]) {
    const [first] = await svc.recall("heron lake", { mode, limit: 1 });
    assert.equal(first, "the heron stands in the lake", mode);
  }
  const filtered = {
    occurred_after: "2020-01-01T00:00:00Z",
    occurred_before: "2021-01-01T00:00:00Z",
  };
  assert.deepEqual(await svc.recall("heron garden", { ...filtered, limit: 1 }), [
    "a bicycle in the garden",
  ]);
  assert.deepEqual(await svc.recall("heron", { max_distance: 0.9, mode: "semantic" }), [
    "the heron stands in the lake",
  ]);
  assert.equal(scans(), before, "never loaded");
});

Deno.test("what is loaded for another reason is searched whole", async () => {
  const { svc, scans } = await large();
  await using _ = svc;
  await svc.remember("the heron stands in the lake");
  assert.equal((await svc.get("/api/memories?text=false&limit=1")).body.total, FILLERS + 1);
  const before = scans();
  assert.ok(before > 0);
  const [first] = await svc.recall("heron lake", { limit: 1, mode: "semantic" });
  assert.equal(first, "the heron stands in the lake");
  assert.equal(scans(), before);
});

Deno.test("few memories may be too large as well, by their texts", async () => {
  // Records above 16 KiB stay on disk.
  const sizes = [[2000, 12_000, false], [2000, 1000, true], [200, 1_000_000, true]] as const;
  for (const [count, bytes, isLoaded] of sizes) {
    const { svc, scans } = await large(count, bytes);
    await using _ = svc;
    await svc.remember("the heron stands in the lake");
    const before = scans();
    assert.deepEqual(await svc.recall("heron lake", { limit: 1 }), [
      "the heron stands in the lake",
    ]);
    assert.equal(scans() > before, isLoaded, `${bytes}`);
  }
});
