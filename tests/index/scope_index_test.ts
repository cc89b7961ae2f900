import assert from "node:assert/strict";
import { SvcError } from "../../src/errors.ts";
import { ScopeIndex } from "../../src/index/scope_index.ts";
import type { IndexEntry } from "../../src/interfaces/mod.ts";
import { distancesIn, dropFrom, entryOf, ListStore, load, scopeOf, unit } from "./fakes.ts";
import { poll } from "../within.ts";

const X = unit(1, 0, 0);
const Y = unit(0, 1, 0);
const BUDGET = 64 << 20;

function open(store: ListStore, budgetBytes = BUDGET): ScopeIndex {
  return new ScopeIndex({ vectorStore: store, dimensions: 3, budgetBytes });
}

/** Entries of one scope, one direction each. */
function many(namespace: string, count: number): IndexEntry[] {
  return Array.from(
    { length: count },
    (_, i) => entryOf(`${namespace}${i}`, [unit(1, i, i % 3)], scopeOf(namespace)),
  );
}

Deno.test("search is exact, nearest first, newer first among equals, then by id", async () => {
  const store = new ListStore([
    entryOf("far", [Y]),
    entryOf("b", [X]),
    entryOf("a", [X]),
    entryOf("new", [X], { createdAt: 2000 }),
    entryOf("windows", [Y, unit(1, 1, 0), unit(-1, 0, 0)], { createdAt: 5 }),
    entryOf("other", [X], scopeOf("b")),
  ], 2);
  await using index = open(store);
  const loaded = await load(index, scopeOf("a"));
  const ids = (limit: number, more = {}): string[] =>
    loaded.match({ vector: X }, { limit, ...more }).map(({ entry }) => entry.id);
  assert.deepEqual(ids(10), ["new", "a", "b", "windows", "far"]);
  assert.deepEqual(ids(2), ["new", "a"]);
  assert.deepEqual(ids(10, { maxDistance: 0.5 }), ["new", "a", "b", "windows"]);
  assert.deepEqual(ids(10, { maxDistance: 1 }), ["new", "a", "b", "windows"]);
  assert.deepEqual(ids(2, { accept: (e: { id: string }) => e.id.length > 1 }), ["new", "windows"]);
  const distances = loaded.match({ vector: X }, { limit: 10 }).map(({ distance }) => distance);
  assert.deepEqual([distances[0], distances[4]], [0, 1]);
  assert(Math.abs(distances[3]! - (1 - Math.SQRT1_2)) < 1e-6);
  const all = distancesIn(loaded, X);
  assert.equal(all.length, 5);
  loaded.entries().forEach(({ id }, i) => {
    assert.equal(all[i], distances[ids(10).indexOf(id)]);
  });
});

Deno.test("memories without vectors are known and never found, until they have some", async () => {
  const bare = entryOf("bare", []);
  await using index = open(new ListStore([bare, entryOf("near", [X])]));
  const loaded = await load(index, scopeOf("a"));
  const ids = () => loaded.match({ vector: X }, { limit: 10 }).map(({ entry }) => entry.id);
  assert.deepEqual(ids(), ["near"]);
  assert.deepEqual(loaded.withoutVectors().map(({ id }) => id), ["bare"]);
  assert.equal(loaded.size, 2);
  index.apply([{ ...bare, vectors: [X] }]);
  assert.deepEqual(ids(), ["bare", "near"]);
  assert.deepEqual(loaded.withoutVectors(), []);
  index.apply([entryOf("later", [])]);
  index.remove(scopeOf("a"), ["later", "near"]);
  assert.deepEqual(loaded.withoutVectors(), []);
  assert.deepEqual(ids(), ["bare"]);
});

Deno.test("a loaded scope answers by id and blob, and counts bytes", async () => {
  const page = new Uint8Array(1000).fill(7);
  await using index = open(
    new ListStore([
      entryOf("1", [X], { blobId: "q", payload: page.subarray(10, 30), bytes: 20 }),
      entryOf("2", [X], { blobId: "q" }),
      entryOf("3", [X]),
    ]),
  );
  const loaded = await load(index, scopeOf("a"));
  assert.deepEqual([loaded.size, loaded.bytes, loaded.countBlob("q")], [3, 220, 2]);
  const first = loaded.get("1")!;
  assert.deepEqual(first.payload, page.slice(10, 30));
  assert.equal(first.payload.buffer.byteLength, 40, "the page's buffer is not kept alive");
  assert(!("vectors" in first));
  index.applyLinks(scopeOf("a"), [
    { id: "3", version: 1, blobId: "r" },
    { id: "2", version: 2, blobId: "s" },
    { id: "9", version: 1, blobId: "t" },
  ]);
  assert.deepEqual(["q", "r", "s", "t"].map((id) => loaded.hasBlob(id)), [
    true,
    true,
    false,
    false,
  ]);
  index.remove(scopeOf("a"), ["1", "9"]);
  assert.deepEqual([loaded.size, loaded.bytes, loaded.countBlob("q")], [2, 200, 1]);
  assert.equal(loaded.get("1"), undefined);
});

Deno.test("each page gives its memory back once it is taken over", async () => {
  const store = new ListStore(["1", "2", "3"].map((id) => entryOf(id, [X])), 2);
  await using index = open(store);
  assert.equal((await load(index, scopeOf("a"))).size, 3);
  assert.deepEqual([store.asked, store.released], [2, 2]);
});

Deno.test("payloads that are gone do not keep the buffer of their page for long", async () => {
  const payload = new Uint8Array(20 * 1024);
  const ids = Array.from({ length: 40 }, (_, i) => `${i}`);
  await using index = open(new ListStore(ids.map((id) => entryOf(id, [X], { payload }))));
  const loaded = await load(index, scopeOf("a"));
  const held = () => new Set(loaded.entries().map((entry) => entry.payload.buffer));
  const sum = () => [...held()].reduce((bytes, { byteLength }) => bytes + byteLength, 0);
  const before = sum();
  for (const [i, id] of ids.slice(0, 30).entries()) {
    const others = index.stats().bytes - sum();
    assert(others >= 0 && others < 100_000, "what is kept is counted");
    if (i % 2 === 0) index.remove(scopeOf("a"), [id]);
    else index.apply([entryOf(id, [X], { version: 2, payload: new Uint8Array(1) })]);
  }
  assert(sum() < before / 2);
  assert.deepEqual(loaded.get("39")!.payload, payload);
});

Deno.test("the newest version stays, and a known blob outlives a repeated write", async () => {
  await using index = open(new ListStore([entryOf("1", [X], { version: 2, blobId: "b" })]));
  const loaded = await load(index, scopeOf("a"));
  index.apply([entryOf("1", [Y], { version: 1 })]);
  assert.equal(loaded.match({ vector: X }, { limit: 1 })[0]!.distance, 0);
  index.apply([entryOf("1", [X], { version: 2, importance: 1 })]);
  assert.deepEqual([loaded.get("1")!.importance, loaded.get("1")!.blobId], [1, "b"]);
  index.apply([entryOf("1", [Y], { version: 3 })]);
  assert.equal(loaded.match({ vector: X }, { limit: 1 })[0]!.distance, 1);
  assert.deepEqual([loaded.size, loaded.bytes, loaded.hasBlob("b")], [1, 100, false]);
});

Deno.test("changes of scopes that are not loaded are ignored", async () => {
  const store = new ListStore([]);
  await using index = open(store);
  index.apply([entryOf("1", [X])]);
  index.remove(scopeOf("a"), ["1"]);
  index.applyLinks(scopeOf("a"), [{ id: "1", version: 1, blobId: "b" }]);
  dropFrom(index, scopeOf("a"));
  assert.partialDeepStrictEqual(index.stats(), { scopes: 0, memories: 0, bytes: 0 });
  assert.equal(store.asked, 0);
});

Deno.test("the scope read longest ago is evicted whole and loaded again", async () => {
  const store = new ListStore([...many("a", 100), ...many("b", 100), ...many("c", 100)], 30);
  await using probe = open(store);
  await load(probe, scopeOf("a"));
  const one = probe.stats().bytes;
  assert(one >= 100 * (8 * 4 + 10));
  store.asked = 0;
  await using index = open(store, one * 2.5);
  const a = await load(index, scopeOf("a"));
  const b = await load(index, scopeOf("b"));
  await load(index, scopeOf("a"));
  await load(index, scopeOf("c"));
  assert.deepEqual([a.released, b.released], [false, true]);
  assert.equal(index.stats().scopes, 2);
  assert(index.stats().bytes <= one * 2.5);
  for (
    const call of [() => b.match({ vector: X }, { limit: 1 }), () => b.get("b1"), () => b.entries()]
  ) {
    assert.throws(call, (error) => error instanceof SvcError && error.code === "overloaded");
  }
  assert.equal(store.asked, 12);
  const again = await load(index, scopeOf("b"));
  assert.equal(again.size, 100);
  assert.equal(store.asked, 16);
  assert.equal(a.released, true);
});

Deno.test("a scope above the budget is loaded alone, and stays", async () => {
  const store = new ListStore([...many("a", 50), ...many("b", 50)]);
  await using index = open(store, 1);
  const a = await load(index, scopeOf("a"));
  index.apply([entryOf("more", [X])]);
  assert.deepEqual([a.size, a.released], [51, false]);
  const b = await load(index, scopeOf("b"));
  assert.deepEqual([b.size, a.released], [50, true]);
  // Two readers that evict each other's scopes both get an answer.
  const sizes = await Promise.all(
    ["a", "b", "a", "b"].map((name) => index.read(scopeOf(name), (loaded) => loaded.size)),
  );
  assert.deepEqual(sizes, [50, 50, 50, 50]);
});

Deno.test("bytes in use follow every change and return to zero", async () => {
  await using index = open(new ListStore([entryOf("stays", [X])]));
  await load(index, scopeOf("a"));
  const before = index.stats().bytes;
  index.apply(many("a", 500));
  const full = index.stats();
  assert.equal(full.memories, 501);
  assert(full.bytes - before >= 500 * (8 * 4 + 10));
  index.remove(scopeOf("a"), many("a", 500).map(({ id }) => id));
  assert.equal(index.stats().memories, 1);
  assert(index.stats().bytes < full.bytes / 10);
  dropFrom(index, scopeOf("a"));
  assert.partialDeepStrictEqual(index.stats(), { scopes: 0, memories: 0, bytes: 0 });
});

Deno.test("of scopes without memories the last ones are held, and load again", async () => {
  const store = new ListStore([]);
  await using index = open(store);
  for (let n = 0; n < 70; n++) await index.read(scopeOf(`empty ${n}`), ({ size }) => size);
  assert.equal(index.stats().scopes, 64);
  assert.deepEqual([0, 5, 6, 69].map((n) => index.holds(scopeOf(`empty ${n}`))), [
    false,
    false,
    true,
    true,
  ]);
  // One that is filled is none of them, and one that is emptied is.
  index.apply([entryOf("later", [X], scopeOf("empty 6"))]);
  for (let n = 70; n < 140; n++) await index.read(scopeOf(`empty ${n}`), ({ size }) => size);
  assert.deepEqual([index.holds(scopeOf("empty 6")), index.stats().memories], [true, 1]);
  index.remove(scopeOf("empty 6"), ["later"]);
  for (let n = 140; n < 210; n++) await index.read(scopeOf(`empty ${n}`), ({ size }) => size);
  assert.deepEqual([index.holds(scopeOf("empty 6")), index.stats().scopes], [false, 64]);
});

Deno.test("a vector of another length drops the scope; the next load says why", async () => {
  const store = new ListStore(many("a", 5));
  await using index = open(store);
  const loaded = await load(index, scopeOf("a"));
  const strange = entryOf("strange", [unit(1, 0)]);
  store.entries.push(strange);
  index.apply([strange, entryOf("fine", [X])]);
  assert.equal(loaded.released, true);
  assert.equal(index.stats().scopes, 0);
  await assert.rejects(load(index, scopeOf("a")), { name: "SvcError", code: "dimension_mismatch" });
  store.entries.pop();
  assert.equal((await load(index, scopeOf("a"))).size, 5);
  assert.throws(() => loaded.match({ vector: unit(1, 0) }, { limit: 1 }), { code: "overloaded" });
});

Deno.test("an entry of another scope is never taken over", async () => {
  const stranger = entryOf("1", [X], { owner: "0x02" });
  const store = { scan: () => Promise.resolve({ entries: [stranger] }) };
  await using index = new ScopeIndex({ vectorStore: store, dimensions: 3, budgetBytes: BUDGET });
  await assert.rejects(load(index, scopeOf("a")), { name: "SvcError", code: "internal_error" });
  assert.equal(index.stats().bytes, 0);
});

Deno.test("texts come with an entry or later, for the version they belong to", async () => {
  await using index = open(new ListStore([entryOf("1", [X]), entryOf("2", [Y])]));
  const loaded = await load(index, scopeOf("a"));
  const found = (text: string) =>
    loaded.match({ text }, { limit: 10 }).map(({ entry }) => entry.id).sort();
  const without = () => loaded.withoutText().map(({ id }) => id).sort();
  assert.deepEqual(without(), ["1", "2"]);
  loaded.setText("1", 2, "of a later version");
  loaded.setText("3", 1, "of an unknown memory");
  assert.deepEqual(without(), ["1", "2"]);
  loaded.setText("1", 1, "heron");
  index.apply([entryOf("3", [X])], new Map([["3", "heron and stork"]]));
  assert.deepEqual([without(), found("heron")], [["2"], ["1", "3"]]);
  index.apply([entryOf("3", [Y])]);
  assert.deepEqual(found("heron"), ["1", "3"], "the same version is the same text");
  index.apply([entryOf("3", [Y], { version: 2 })]);
  assert.deepEqual([without(), found("heron")], [["2", "3"], ["1"]]);
  index.remove(scopeOf("a"), ["1"]);
  assert.deepEqual(found("heron"), []);
  const [best] = loaded.match({ text: "heron", vector: X }, { limit: 10 });
  assert.equal(best?.entry.id, "2", "equally far: the lesser id");
});

Deno.test("texts count, and are forgotten in time", async () => {
  await using index = open(new ListStore(many("a", 20)));
  const scope = scopeOf("a");
  await load(index, scope);
  const { bytes } = index.stats();
  await index.read(scope, async (loaded) => {
    await Promise.resolve();
    for (const { id } of loaded.withoutText()) loaded.setText(id, 1, `${id} heron `.repeat(100));
  });
  assert.ok(index.stats().bytes > bytes);
  index.forgetWordsAfter(scope, 1);
  await poll(async () => (await load(index, scope)).withoutText().length, (count) => count === 20);
  assert.ok(index.stats().bytes <= bytes);
});

Deno.test("a reader whose scope is dropped on the way reads again", async () => {
  const store = new ListStore(many("a", 3));
  await using index = open(store);
  let calls = 0;
  const size = await index.read(scopeOf("a"), async (loaded) => {
    if (++calls === 1) dropFrom(index, scopeOf("a"));
    await Promise.resolve();
    return loaded.entries().length;
  });
  assert.deepEqual([calls, size], [2, 3]);
  const failure = new Error("the reader's own");
  await assert.rejects(index.read(scopeOf("a"), () => Promise.reject(failure)), failure);
});

Deno.test("texts make room as vectors do, with ten times more scopes than fit", async () => {
  const names = Array.from({ length: 40 }, (_, i) => `s${i}`);
  await using index = open(new ListStore(names.flatMap((name) => many(name, 10))), 1);
  const read = (from: ScopeIndex, name: string): Promise<number> =>
    from.read(scopeOf(name), async (loaded) => {
      await Promise.resolve();
      for (const { id } of loaded.withoutText()) loaded.setText(id, 1, `${id} heron `.repeat(50));
      return loaded.match({ text: "heron" }, { limit: 100 }).length;
    });
  assert.equal(await read(index, "s0"), 10);
  const { bytes, scopes } = index.stats();
  assert.equal(scopes, 1);
  await using roomy = open(new ListStore(names.flatMap((name) => many(name, 10))), 4 * bytes);
  for (let round = 0; round < 3; round++) {
    for (const name of names) {
      assert.equal(await read(roomy, name), 10);
      assert.ok(roomy.stats().bytes <= 4 * bytes);
    }
  }
  assert.equal(roomy.stats().scopes, 4);
});

Deno.test("what points away from the query scores nothing and is ordered by its time", async () => {
  const store = new ListStore([
    entryOf("near", [X]),
    entryOf("older", [unit(-1, 1, 0)]),
    entryOf("newer", [unit(-1, 0, 0)], { createdAt: 2000 }),
  ], 2);
  await using index = open(store);
  const loaded = await load(index, scopeOf("a"));
  const found = (limit: number) => loaded.match({ vector: X }, { limit });
  for (const limit of [1, 2, 3]) {
    const ids = found(limit).map(({ entry }) => entry.id);
    assert.deepEqual(ids, ["near", "newer", "older"].slice(0, limit));
  }
  assert.deepEqual(found(3).map(({ score }) => score), [1, 0, 0]);
});
