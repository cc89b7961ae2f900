import assert from "node:assert/strict";
import { SvcError } from "../../src/errors.ts";
import { LoadQueue } from "../../src/index/load_queue.ts";
import { ScopeIndex } from "../../src/index/scope_index.ts";
import type { Scope, VectorStore } from "../../src/interfaces/mod.ts";
import { turns, within } from "../within.ts";
import { dropFrom, entryOf, ListStore, load, scopeOf, unit, WaitingStore } from "./fakes.ts";

Deno.test("a load waits while it is held up, and looks again when it is told to", async () => {
  const queue = new LoadQueue();
  const wait = queue.wait();
  await wait(() => undefined);
  let isHeldUp = true;
  let looks = 0;
  let isOver = false;
  const waiting = wait(() => {
    looks++;
    return isHeldUp ? "loads" : undefined;
  }).then(() => isOver = true);
  for (let i = 0; i < 2; i++) {
    queue.tell();
    await turns();
  }
  assert.deepEqual([looks, isOver], [3, false]);
  isHeldUp = false;
  queue.tell();
  await waiting;
});

Deno.test("a load that has waited for long goes on, and does not wait again", async () => {
  const wait = new LoadQueue().wait({ loads: 60, readers: 20 });
  const begin = performance.now();
  await within(wait(() => "readers"), () => "it waits for ever");
  assert.ok(performance.now() - begin >= 19);
  let looks = 0;
  await wait(() => {
    looks++;
    return "readers";
  });
  assert.equal(looks, 1);
  await within(wait(() => "loads"), () => "it waits for ever");
  assert.ok(performance.now() - begin >= 78);
});

Deno.test("after a load of more than fits there is room for others again", async () => {
  const many = (namespace: string, count: number) =>
    Array.from({ length: count }, (_, i) => {
      const vector = new Float32Array(512);
      vector[i % 512] = 1;
      return entryOf(`${namespace}${i}`, [vector], scopeOf(namespace));
    });
  const vectorStore = new ListStore(
    [...many("big", 6000), ...many("a", 50), ...many("b", 50)],
    1000,
  );
  await using index = new ScopeIndex({ vectorStore, dimensions: 512, budgetBytes: 8 * 2 ** 20 });
  assert.equal(await index.read(scopeOf("big"), ({ size }) => size), 6000);
  for (let i = 0; i < 3; i++) for (const name of ["a", "b"]) await load(index, scopeOf(name));
  assert.equal(vectorStore.asked, 6 + 1 + 1);
});

Deno.test("blocks that nobody uses any more count, beyond a quarter of the budget", async () => {
  const entries = (namespace: string, windows: number, bytes: number) =>
    Array.from({ length: 250 }, (_, i) => {
      const vectors = Array.from({ length: windows }, () => new Float32Array(512).fill(0.04));
      const payload = new Uint8Array(bytes);
      return entryOf(`${namespace}${i}`, vectors, { ...scopeOf(namespace), payload });
    });
  const names = Array.from({ length: 8 }, (_, i) => i);
  const vectorStore = new ListStore([
    ...names.flatMap((i) => entries(`vectors ${i}`, 16, 10)),
    ...names.flatMap((i) => entries(`payloads ${i}`, 1, 16_000)),
  ]);
  const budgetBytes = 32 * 2 ** 20;
  await using index = new ScopeIndex({ vectorStore, dimensions: 512, budgetBytes });
  for (const i of names) await load(index, scopeOf(`vectors ${i}`));
  const { bytes } = index.stats();
  assert.ok(bytes > budgetBytes * 0.75 && bytes <= budgetBytes, `${bytes}`);
  for (const i of names) await load(index, scopeOf(`payloads ${i}`));
  const after = index.stats().bytes;
  assert.ok(after > budgetBytes * 0.25 && after < budgetBytes * 0.75, `${after}`);
});

Deno.test("a small load passes large ones that wait for each other", async () => {
  const entries = ["first", "second", "small"].flatMap((namespace) =>
    Array.from({ length: namespace === "small" ? 100 : 3000 }, (_, i) => {
      return entryOf(`${namespace}${i}`, [unit(1, i, i % 3)], scopeOf(namespace));
    })
  );
  const list = new ListStore(entries, 100);
  const isUnderWay = Promise.withResolvers<void>();
  const goesOn = Promise.withResolvers<void>();
  const vectorStore: Pick<VectorStore, "scan"> = {
    async scan(scope, cursor) {
      if (scope.namespace === "first" && cursor === "2500") {
        isUnderWay.resolve();
        await goesOn.promise;
      }
      return await list.scan(scope, cursor);
    },
  };
  await using index = new ScopeIndex({ vectorStore, dimensions: 3, budgetBytes: 2 ** 21 });
  const size = (namespace: string) => index.read(scopeOf(namespace), (loaded) => loaded.size);
  const large = [size("first"), size("second")];
  await isUnderWay.promise;
  assert.equal(await within(size("small"), () => "the small one waits", 9000), 100);
  goesOn.resolve();
  assert.deepEqual(await Promise.all(large), [3000, 3000]);
});

Deno.test("a large load waits for a reader where there is no room, a small one does not", async () => {
  const many = (namespace: string, count: number) =>
    Array.from({ length: count }, (_, i) => {
      return entryOf(`${namespace}${i}`, [unit(1, i, i % 3)], scopeOf(namespace));
    });
  const entries = [...many("a", 3000), ...many("b", 3000), ...many("c", 100)];
  const vectorStore = new ListStore(entries, 100);
  await using index = new ScopeIndex({ vectorStore, dimensions: 3, budgetBytes: 2 ** 21 });
  const reading = Promise.withResolvers<void>();
  const isReading = Promise.withResolvers<void>();
  const reader = index.read(scopeOf("a"), async (loaded) => {
    isReading.resolve();
    await reading.promise;
    return loaded.size;
  });
  await isReading.promise;
  const begin = performance.now();
  const took = async (namespace: string) => {
    await within(index.read(scopeOf(namespace), () => {}), () => "it waits for ever");
    return performance.now() - begin;
  };
  const [large, small] = await Promise.all([took("b"), took("c")]);
  // What the reader waits for may take minutes.
  assert.ok(large >= 490 && small < large, `${large} and ${small}`);
  reading.resolve();
  assert.equal(await reader, 3000);
});

Deno.test("many loads of one owner take four shares, and another owner's does not wait", async () => {
  const store = new WaitingStore();
  await using index = new ScopeIndex({ vectorStore: store, dimensions: 3, budgetBytes: 2 ** 21 });
  const read = (scope: Scope) => index.read(scope, (loaded) => loaded.size);
  const many = Array.from({ length: 10 }, (_, i) => read(scopeOf(`n${i}`)));
  const other = read({ owner: "0x02", namespace: "n" });
  await turns();
  const names = () => store.waiting.map(({ scope }) => scope.namespace);
  assert.deepEqual(names(), ["n0", "n1", "n2", "n3", "n"]);
  const failed = assert.rejects(many[1]!, { code: "storage_unavailable" });
  store.waiting[1]!.fail(new SvcError("storage_unavailable"));
  await failed;
  await turns();
  assert.equal(names().at(-1), "n4", "a load that failed gives its share to the next");
  dropFrom(index, scopeOf("n5"));
  // Each is scanned once, the dropped one as well: it had not begun.
  for (let i = 0; i < 11; i++) (await store.next()).answer([]);
  await Promise.all([...many.filter((_, i) => i !== 1), other]);
});
