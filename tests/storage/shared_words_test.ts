import assert from "node:assert/strict";
import { memoryState } from "../../plugins/memory/mod.ts";
import { SvcError } from "../../src/errors.ts";
import { SharedWords } from "../../src/storage/shared_words.ts";

const HOLD = { settled: () => Promise.resolve(), [Symbol.dispose]() {} };
const SCOPE = { owner: "0x1", namespace: "notes" };

async function* parts(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield await Promise.resolve(new TextEncoder().encode(text));
}

async function setUp() {
  const state = memoryState();
  const store = state.open();
  await store.owners.take(SCOPE.owner, true);
  const words = new SharedWords(store);
  const text = async () =>
    (await words.read(SCOPE)).map((record) => new TextDecoder().decode(record)).join("");
  return { store, words, text };
}

Deno.test("words are what was made last, and go when their scope is dropped", async () => {
  const { words, text } = await setUp();
  await words.write(SCOPE, 0, () => parts("one ", "two"), HOLD);
  assert.equal(await text(), "one two");
  await words.write(SCOPE, 0, () => parts("three"), HOLD);
  await words.drop(SCOPE);
  assert.deepEqual([await text(), words.drops(SCOPE)], ["", 1]);
  await assert.rejects(words.write(SCOPE, 0, () => parts("of before"), HOLD), {
    code: "overloaded",
  });
  assert.equal(await text(), "");
});

Deno.test("nothing is written of a scope that another relayer may have dropped", async () => {
  const { store, words, text } = await setUp();
  const gone = Promise.withResolvers<void>();
  let isOver = false;
  const lost = {
    settled: () => gone.promise,
    [Symbol.dispose]: () => void (isOver = true),
  };
  const late = words.write(SCOPE, 0, () => parts("sealed words"), lost);
  gone.reject(new SvcError("overloaded"));
  await assert.rejects(late, { code: "overloaded" });
  assert.ok(isOver, "the owner may go");
  const dropped = async function* () {
    yield* parts("sealed words");
    await store.words.drop(SCOPE);
  };
  await assert.rejects(words.write(SCOPE, 0, dropped, HOLD), { code: "overloaded" });
  assert.equal(await text(), "");
});

Deno.test("one scope is written at a time, and the end waits for it", async () => {
  const { words, text } = await setUp();
  const gate = Promise.withResolvers<void>();
  const write = words.write(SCOPE, 0, async function* () {
    await gate.promise;
    yield* parts("last words");
  }, HOLD);
  assert.equal(words.isBusy, true);
  await assert.rejects(words.write(SCOPE, 0, () => parts("others"), HOLD), { code: "overloaded" });
  gate.resolve();
  await write;
  assert.deepEqual([words.isBusy, await text()], [false, "last words"]);
  const cut = words.write(SCOPE, 0, () => parts("too late"), HOLD);
  await words[Symbol.asyncDispose]();
  await assert.rejects(cut, { code: "overloaded" });
  assert.equal(await text(), "last words");
});

Deno.test("words that cannot be read are read out of the memories", async () => {
  const { store, words } = await setUp();
  await store[Symbol.asyncDispose]();
  assert.deepEqual(await words.read(SCOPE), []);
  await assert.rejects(words.drop(SCOPE), { code: "storage_unavailable" });
});
