import assert from "node:assert/strict";
import { memoryVectorStore } from "../../plugins/memory/vector_store.ts";
import type { ScanPage } from "../../src/interfaces/mod.ts";
import { ScopeIndex } from "../../src/index/scope_index.ts";
import { ScanWalk } from "../../src/index/scope_loading.ts";
import { intercepted } from "../memory/intercepted.ts";
import { startRelayer } from "../relayer_fixture.ts";
import { entryOf, load, scopeOf } from "./fakes.ts";

const REFUSAL = { name: "SvcError", code: "storage_unavailable", retryable: false };

Deno.test("a walk follows every cursor once", () => {
  const walk = new ScanWalk();
  const entries = [entryOf("1", [new Float32Array(3)])];
  for (const cursor of ["a", "", "b"]) assert.equal(walk.next({ entries, cursor }), cursor);
  assert.throws(() => walk.next({ entries, cursor: "a" }), REFUSAL);
  assert.equal(walk.next({ entries }), undefined);
});

Deno.test("a walk goes over 100 empty pages in a row, and no further", () => {
  const walk = new ScanWalk();
  let number = 0;
  const page = (entries: ScanPage["entries"] = []) => ({ entries, cursor: String(number++) });
  for (let i = 0; i < 100; i++) walk.next(page());
  walk.next(page([entryOf("1", [new Float32Array(3)])]));
  for (let i = 0; i < 100; i++) walk.next(page());
  assert.throws(() => walk.next(page()), REFUSAL);
});

Deno.test("a scope whose scan does not end is not loaded", async () => {
  let pages = 0;
  const scan = (_: unknown, cursor = "0"): Promise<ScanPage> => {
    pages++;
    return Promise.resolve({ entries: [entryOf("1", [new Float32Array(3)])], cursor });
  };
  const options = { vectorStore: { scan }, dimensions: 3, budgetBytes: 2 ** 24 };
  await using index = new ScopeIndex(options);
  await assert.rejects(load(index, scopeOf("a")), REFUSAL);
  assert.equal(pages, 2);
  assert.partialDeepStrictEqual(index.stats(), { scopes: 0, memories: 0, bytes: 0 });
});

Deno.test("a recall over a scan in a circle is refused, and none waits", async () => {
  const vectorStore = intercepted(memoryVectorStore(), {
    scan: async (next, scope) => ({ ...await next(scope), cursor: "again" }),
  });
  await using svc = await startRelayer({ backends: { vectorStore } });
  await svc.remember("tea with honey");
  const { status, body } = await svc.post("/api/recall", { query: "honey" });
  assert.deepEqual([status, body.code], [503, "storage_unavailable"]);
});

Deno.test("embedding anew over a scan in a circle holds up nobody", async () => {
  const owner = `0x${"11".repeat(32)}`;
  const failed = Promise.withResolvers<void>();
  const vectorStore = intercepted({
    ...memoryVectorStore(),
    outdated: () => Promise.resolve([{ owner, namespace: "default", count: 1 }]),
  }, {
    scan: async (next, scope) => {
      if (scope.owner !== owner) return await next(scope);
      failed.resolve();
      return { entries: [], cursor: "again" };
    },
  });
  await using svc = await startRelayer({ backends: { vectorStore } });
  await failed.promise;
  await svc.remember("tea with honey");
  const { status, body } = await svc.post("/api/recall", { query: "honey" });
  assert.deepEqual([status, body.results.length], [200, 1]);
});
