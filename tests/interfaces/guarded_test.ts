import assert from "node:assert/strict";
import { guarded, type RowsChange, type VectorRows } from "../../src/interfaces/guarded.ts";
import { entry, unit } from "../../testing/index_entry.ts";
import { objectId } from "../../testing/law.ts";

const SCOPE = { owner: objectId("a"), namespace: "default" };

/** Rows that hold nothing, with some of their calls replaced. */
function rows(calls: Partial<VectorRows>): VectorRows {
  return { write() {}, get: () => [], page: () => [], counts: () => [], ...calls };
}

Deno.test("writes come one after the other, also those of a slow driver", async () => {
  const [held, log] = [Promise.withResolvers<void>(), [] as string[]];
  const store = guarded(rows({
    async write({ put }) {
      log.push(`begin ${put[0]?.version}`);
      await held.promise;
      log.push(`end ${put[0]?.version}`);
    },
  }));
  const writes = [1, 2].map((version) => store.upsert([entry(SCOPE, 1, { version })]));
  held.resolve();
  await Promise.all(writes);
  assert.deepEqual(log, ["begin 1", "end 1", "begin 2", "end 2"]);
});

Deno.test("a write whose caller left while it waited is not begun", async () => {
  const [held, changes] = [Promise.withResolvers<void>(), [] as RowsChange[]];
  const store = guarded(rows({
    async write(change) {
      changes.push(change);
      await held.promise;
    },
  }));
  const controller = new AbortController();
  const reason = new Error("gone");
  const first = store.upsert([entry(SCOPE, 1)]);
  const second = store.upsert([entry(SCOPE, 2)], { signal: controller.signal });
  const third = store.upsert([entry(SCOPE, 3)]);
  controller.abort(reason);
  await assert.rejects(second, (error) => error === reason);
  held.resolve();
  await Promise.all([first, third]);
  assert.deepEqual(changes.map(({ put }) => put[0]?.updatedAt! % 10), [1, 3]);
});

Deno.test("a driver that never answers holds up no caller that left", async () => {
  const store = guarded(rows({ page: () => new Promise(() => {}) }));
  const reason = new Error("gone");
  const controller = new AbortController();
  const searches = [
    store.search({ ...SCOPE, vector: unit(1), limit: 1 }, { signal: controller.signal }),
    store.scan(SCOPE, undefined, { signal: controller.signal }),
  ];
  controller.abort(reason);
  for (const search of searches) await assert.rejects(search, (error) => error === reason);
});

Deno.test("a driver's failure is the store's, and the next write is none of it", async () => {
  let fails = true;
  const cause = new Error("disk");
  const store = guarded(rows({
    write() {
      if (fails) throw cause;
    },
    counts() {
      if (fails) throw cause;
      return [];
    },
  }));
  const failure = { name: "SvcError", code: "storage_unavailable", cause };
  await assert.rejects(store.upsert([entry(SCOPE, 1)]), failure);
  await assert.rejects(store.scopes(SCOPE.owner), failure);
  fails = false;
  await store.upsert([entry(SCOPE, 1)]);
});

Deno.test("disposal waits for the write under way, and closes the rows once", async () => {
  const [held, log] = [Promise.withResolvers<void>(), [] as string[]];
  const store = guarded(rows({
    async write() {
      log.push("begin");
      await held.promise;
      log.push("end");
    },
    [Symbol.asyncDispose]: () => void log.push("close"),
  }));
  const writing = store.upsert([entry(SCOPE, 1)]);
  while (log.length === 0) await Promise.resolve();
  const disposals = [store[Symbol.asyncDispose](), store[Symbol.asyncDispose]()];
  held.resolve();
  await Promise.all([writing, ...disposals]);
  assert.deepEqual(log, ["begin", "end", "close"]);
});

Deno.test("vectors of another length are refused where every memory is compared", async () => {
  const store = guarded(rows({ page: () => [entry(SCOPE, 1)] }));
  await assert.rejects(store.search({ ...SCOPE, vector: new Float32Array(3), limit: 1 }), {
    code: "dimension_mismatch",
  });
});

Deno.test("a driver's own search is asked instead", async () => {
  const found = [{ entry: entry(SCOPE, 1), distance: 0.5 }];
  const store = guarded(rows({ search: () => found, page: () => assert.fail("read") }));
  assert.deepEqual(await store.search({ ...SCOPE, vector: unit(1), limit: 1 }), found);
});
