import assert from "node:assert/strict";
import { SvcError } from "../../src/errors.ts";
import { GrowingMemory, openPrefault, PAGE } from "../../src/index/vectors/growing_memory.ts";

const PIECE = 32_768;
const PART = 2 * 2 ** 20;

/** A memory whose parts are taken ahead when the test says so. */
function stage(limit = 64 * PART) {
  const asked: { readonly start: number; readonly length: number; done(): void }[] = [];
  const memory = new GrowingMemory(PAGE, limit, (bytes) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    asked.push({ start: bytes.byteOffset, length: bytes.length, done: resolve });
    return promise;
  });
  return { memory, asked };
}

const overloaded = (error: unknown) => error instanceof SvcError && error.code === "overloaded";

Deno.test("pieces follow each other, whatever the memory grows by", () => {
  for (const piece of [PIECE, 24_576, PART - PAGE, 3 * PART]) {
    const { memory } = stage();
    for (let i = 0; i < 20; i++) assert.equal(memory.cut(piece), PAGE + i * piece);
  }
});

Deno.test("a part that another thread takes is cut only once it is taken", async () => {
  const { memory, asked } = stage();
  assert.equal(memory.cut(PIECE), PAGE);
  memory.prepare();
  memory.prepare();
  const [ahead] = asked;
  assert.ok(ahead);
  assert.deepEqual([asked.length, ahead.length], [1, PART]);
  const isAhead = (at: number) => at + PIECE > ahead.start && at < ahead.start + PART;
  const seen = new Set<number>([PAGE]);
  for (let i = 1; i < 200; i++) {
    const at = memory.cut(PIECE);
    assert.ok(!isAhead(at), `piece ${i} at ${at}`);
    assert.ok(!seen.has(at));
    seen.add(at);
  }
  ahead.done();
  await memory.settled();
  for (let left = PART / PIECE; left > 0;) {
    const at = memory.cut(PIECE);
    assert.ok(!seen.has(at));
    seen.add(at);
    if (isAhead(at)) left--;
  }
  memory.prepare();
  assert.equal(asked.length, 2);
  assert.ok(asked[1]!.start >= Math.max(...seen) + PIECE);
});

Deno.test("the limit holds, also for what is taken ahead", async () => {
  const { memory, asked } = stage(PAGE + 2 * PART);
  memory.prepare();
  assert.equal(asked.length, 1);
  for (const isTaken of [false, true]) {
    if (isTaken) asked[0]!.done();
    if (isTaken) await memory.settled();
    for (let i = 0; i < PART / PIECE; i++) memory.cut(PIECE);
    memory.prepare();
    assert.equal(asked.length, 1);
    assert.throws(() => memory.cut(PIECE), overloaded);
  }
});

Deno.test("the last part is left to those who cut", () => {
  const { memory, asked } = stage(PAGE + PART);
  memory.prepare();
  assert.equal(asked.length, 0);
  for (let i = 0; i < PART / PIECE; i++) memory.cut(PIECE);
});

Deno.test("a part that could not be taken ahead is used all the same", async () => {
  const memory = new GrowingMemory(PAGE, 8 * PART, () => Promise.reject(new Error("no zeros")));
  memory.prepare();
  await memory.settled();
  assert.equal(memory.cut(PIECE), PAGE);
  assert.equal(memory.cut(PIECE), PAGE + PIECE);
});

Deno.test("what others write meanwhile stays as it is", async () => {
  const prefault = openPrefault();
  assert.ok(prefault || Deno.build.os === "windows");
  const memory = new GrowingMemory(PAGE, 512 * PART, prefault);
  const pieces: number[] = [];
  for (let round = 0; round < 40; round++) {
    memory.prepare();
    for (let i = 0; i < 100; i++) {
      const at = memory.cut(PIECE);
      new Uint32Array(memory.memory.buffer, at, PIECE / 4).fill(pieces.length);
      pieces.push(at);
    }
    // Some are taken while this goes on, some before.
    if (round % 2 === 0) await memory.settled();
  }
  await memory.settled();
  for (const [i, at] of pieces.entries()) {
    const piece = new Uint32Array(memory.memory.buffer, at, PIECE / 4);
    assert.ok(piece.every((value) => value === i), `piece ${i}`);
  }
});

Deno.test({
  name: "memory is taken ahead only where that may be read",
  permissions: { read: false },
  fn() {
    assert.equal(openPrefault(), undefined);
  },
});
