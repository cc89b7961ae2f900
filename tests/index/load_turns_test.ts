import assert from "node:assert/strict";
import { LoadTurns } from "../../src/index/load_turns.ts";
import { ScopeIndex } from "../../src/index/scope_index.ts";
import { within } from "../within.ts";
import { entryOf, ListStore, scopeOf, unit } from "./fakes.ts";

Deno.test("a load waits while it is held up, and looks again when it is told to", async () => {
  const turns = new LoadTurns();
  const turn = turns.wait();
  await turn(() => false);
  let isHeldUp = true;
  let looks = 0;
  let isOver = false;
  const waiting = turn(() => {
    looks++;
    return isHeldUp;
  }).then(() => isOver = true);
  for (let i = 0; i < 2; i++) {
    turns.tell();
    await new Promise((resolve) => setTimeout(resolve));
  }
  assert.deepEqual([looks, isOver], [3, false]);
  isHeldUp = false;
  turns.tell();
  await waiting;
});

Deno.test("a load that has waited for long goes on, and does not wait again", async () => {
  const turn = new LoadTurns().wait(30);
  const begin = performance.now();
  await within(turn(() => true), () => "it waits for ever");
  assert.ok(performance.now() - begin >= 29);
  let looks = 0;
  await turn(() => {
    looks++;
    return true;
  });
  assert.equal(looks, 0);
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
  let isLoaded = false;
  const large = index.read(scopeOf("b"), ({ size }) => {
    isLoaded = true;
    return size;
  });
  const small = index.read(scopeOf("c"), ({ size }) => size);
  assert.equal(await within(small, () => "the small one waits"), 100);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(isLoaded, false);
  reading.resolve();
  assert.deepEqual(await within(Promise.all([reader, large]), () => "no turn"), [3000, 3000]);
});
