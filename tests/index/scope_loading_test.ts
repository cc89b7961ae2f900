import assert from "node:assert/strict";
import { SvcError } from "../../src/errors.ts";
import type { IndexEntry } from "../../src/interfaces/mod.ts";
import { ScopeIndex } from "../../src/index/scope_index.ts";
import { dropFrom, entryOf, load, scopeOf, unit, WaitingStore } from "./fakes.ts";
import { turns } from "../within.ts";

const X = unit(1, 0, 0);
const Y = unit(0, 1, 0);
const A = scopeOf("a");

function open(store: WaitingStore): ScopeIndex {
  return new ScopeIndex({ vectorStore: store, dimensions: 3, budgetBytes: 1 << 20 });
}

Deno.test("concurrent callers share one load", async () => {
  const store = new WaitingStore();
  await using index = open(store);
  const calls = [load(index, A), load(index, A), load(index, { ...A })];
  (await store.next()).answer([entryOf("1", [X])], "next");
  const second = await store.next();
  assert.equal(second.cursor, "next");
  second.answer([entryOf("2", [X])]);
  const [first, ...others] = await Promise.all(calls);
  for (const other of others) assert.equal(other, first);
  assert.equal(first!.size, 2);
  assert.equal(store.asked, 2);
});

Deno.test("a failed load fails every caller and is tried again by the next", async () => {
  const store = new WaitingStore();
  await using index = open(store);
  const calls = [load(index, A), load(index, A)];
  (await store.next()).answer([entryOf("1", [X])], "next");
  (await store.next()).fail(new SvcError("storage_unavailable"));
  for (const call of calls) await assert.rejects(call, { code: "storage_unavailable" });
  assert.partialDeepStrictEqual(index.stats(), { scopes: 0, memories: 0, bytes: 0 });
  const again = load(index, A);
  (await store.next()).fail(new Error("private detail"));
  await assert.rejects(again, {
    code: "internal_error",
    message: "Something went wrong on our side",
  });
  const last = load(index, A);
  (await store.next()).answer([entryOf("1", [X])]);
  assert.equal((await last).size, 1);
});

Deno.test("a page that fails while the one before is taken over fails the load", async () => {
  const failing = (entries: IndexEntry[]) =>
    new ScopeIndex({
      vectorStore: {
        scan: (_, cursor) =>
          cursor === undefined
            ? Promise.resolve({ entries, cursor: "next" })
            : Promise.reject(new SvcError("storage_unavailable")),
      },
      dimensions: 3,
      budgetBytes: 1 << 28,
    });
  // So many that others get their turn, in which a failure without a handler ends the process.
  const many = Array.from({ length: 20_000 }, (_, i) => entryOf(String(i), [X]));
  await using index = failing(many);
  await assert.rejects(load(index, A), { code: "storage_unavailable" });
  await using other = failing([entryOf("1", [unit(1, 0)])]);
  await assert.rejects(load(other, A), { code: "dimension_mismatch" });
});

Deno.test("what is written while a scope loads wins over older pages", async () => {
  const store = new WaitingStore();
  await using index = open(store);
  const call = load(index, A);
  const first = await store.next();
  index.apply([
    entryOf("early", [Y], { version: 2 }),
    entryOf("added", [Y]),
    entryOf("same", [Y], { importance: 1 }),
  ]);
  index.remove(A, ["gone", "back"]);
  index.apply([entryOf("back", [Y])]);
  index.applyLinks(A, [
    { id: "linked", version: 1, blobId: "l" },
    { id: "outdated", version: 1, blobId: "o" },
    { id: "added", version: 1, blobId: "n" },
  ]);
  first.answer([
    entryOf("early", [X]),
    entryOf("same", [X], { blobId: "s" }),
    entryOf("gone", [X]),
    entryOf("back", [X], { version: 5 }),
    entryOf("late", [X]),
  ], "next");
  const second = await store.next();
  index.apply([entryOf("late", [Y], { version: 2 })]);
  index.remove(A, ["gone late"]);
  second.answer([
    entryOf("linked", [X]),
    entryOf("outdated", [X], { version: 2 }),
    entryOf("gone late", [X]),
    entryOf("newer", [X], { version: 3 }),
  ]);
  const loaded = await call;
  const state = Object.fromEntries(
    loaded.match({ vector: Y }, { limit: 20 }).map(({ entry, distance }) =>
      [entry.id, [entry.version, distance, entry.blobId]] as const
    ),
  );
  assert.deepEqual(state, {
    early: [2, 0, undefined],
    added: [1, 0, "n"],
    same: [1, 0, "s"],
    back: [1, 0, undefined],
    late: [2, 0, undefined],
    linked: [1, 1, "l"],
    outdated: [2, 1, undefined],
    newer: [3, 1, undefined],
  });
  assert.equal(loaded.get("same")!.importance, 1);
});

Deno.test("a scope dropped while it loads is loaded from the start", async () => {
  const store = new WaitingStore();
  await using index = open(store);
  const call = load(index, A);
  (await store.next()).answer([entryOf("1", [X])], "next");
  const stale = await store.next();
  dropFrom(index, A);
  stale.answer([entryOf("2", [X])]);
  const fresh = await store.next();
  assert.equal(fresh.cursor, undefined);
  fresh.answer([entryOf("3", [X])]);
  assert.deepEqual((await call).entries().map(({ id }) => id), ["3"]);
});

Deno.test("a dropped load that fails does not fail its callers", async () => {
  const store = new WaitingStore();
  await using index = open(store);
  const early = load(index, A);
  const stale = await store.next();
  dropFrom(index, A);
  const late = load(index, A);
  stale.fail(new SvcError("storage_unavailable"));
  (await store.next()).answer([entryOf("1", [X]), entryOf("2", [X])]);
  assert.equal(await early, await late);
  assert.equal(store.asked, 2);
  index.remove(A, ["1"]);
  assert.deepEqual([(await late).size, (await late).released, index.stats().scopes], [1, false, 1]);
});

Deno.test("a caller that leaves does not end the load", async () => {
  const store = new WaitingStore();
  await using index = open(store);
  const leave = new AbortController();
  const call = load(index, A, { signal: leave.signal });
  const scan = await store.next();
  const reason = new Error("left");
  leave.abort(reason);
  await assert.rejects(call, reason);
  await assert.rejects(load(index, A, { signal: leave.signal }), reason);
  scan.answer([entryOf("1", [X])]);
  await turns();
  assert.equal((await load(index, A, { signal: new AbortController().signal })).size, 1);
  assert.equal(store.asked, 1);
});

Deno.test("a failure that nobody waits for is harmless", async () => {
  const store = new WaitingStore();
  await using index = open(store);
  const leave = new AbortController();
  const call = load(index, A, { signal: leave.signal });
  const scan = await store.next();
  leave.abort(new Error("left"));
  await assert.rejects(call, { message: "left" });
  scan.fail(new SvcError("storage_unavailable"));
  await turns();
  assert.equal(index.stats().scopes, 0);
});

Deno.test("a scope that is loading is not evicted", async () => {
  const store = new WaitingStore();
  await using index = new ScopeIndex({ vectorStore: store, dimensions: 3, budgetBytes: 1 });
  const a = load(index, A);
  (await store.next()).answer([entryOf("1", [X])], "next");
  const rest = await store.next();
  const b = load(index, scopeOf("b"));
  (await store.next()).answer([entryOf("2", [X], scopeOf("b"))]);
  const other = await b;
  rest.answer([entryOf("3", [X])]);
  assert.equal((await a).size, 2);
  assert.equal(other.released, true);
});

Deno.test("disposing ends loads with shutting_down and waits for them", async () => {
  const store = new WaitingStore();
  const index = open(store);
  const call = load(index, A);
  const scan = await store.next();
  let disposed = false;
  const disposing = index[Symbol.asyncDispose]().then(() => disposed = true);
  assert.equal(scan.signal!.aborted, true);
  await turns();
  assert.equal(disposed, false, "the store is still being read");
  scan.fail(new Error("aborted"));
  await assert.rejects(call, { code: "shutting_down" });
  await disposing;
  await assert.rejects(load(index, A), { code: "shutting_down" });
  assert.partialDeepStrictEqual(index.stats(), { scopes: 0, memories: 0, bytes: 0 });
});
