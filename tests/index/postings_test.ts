import assert from "node:assert/strict";
import { FREQUENCY_LIMIT, Postings } from "../../src/index/words/postings.ts";
import { uniform } from "../../bench/statistics.ts";

/** Documents and frequencies of a term. */
function read(postings: Postings, hash: number): [document: number, frequency: number][] {
  const into = { postings: new Uint32Array(0) };
  const count = postings.read(hash, into);
  return Array.from(into.postings.subarray(0, count), (value) => [value >>> 8, value & 255]);
}

Deno.test("postings are those of a map of lists", () => {
  const random = uniform(7);
  const postings = new Postings();
  const model = new Map<number, [number, number][]>();
  for (let document = 0; document < 2000; document++) {
    for (let i = 0; i < 8; i++) {
      // Few terms often, many seldom; also the hashes 0 and 2^32 - 1.
      const hash = (Math.floor(random() ** 4 * 3000) * 1_431_655_765) >>> 0;
      const list = model.get(hash) ?? [];
      model.set(hash, list);
      const last = list.at(-1);
      if (last?.[0] === document) last[1]++;
      else list.push([document, 1]);
      assert.equal(postings.add(hash, document), list.at(-1)![1]);
    }
  }
  assert.equal(postings.terms, model.size);
  assert.deepEqual(new Set(postings.hashes()), new Set(model.keys()));
  for (const [hash, list] of model) assert.deepEqual(read(postings, hash), list);
  assert.deepEqual(read(postings, 12345), []);
});

Deno.test("frequencies stop at the limit, and memory follows the contents", () => {
  const postings = new Postings();
  const empty = postings.bytes;
  assert.ok(empty < 4096);
  for (let i = 0; i < 2 * FREQUENCY_LIMIT; i++) postings.add(1, 5);
  assert.deepEqual(read(postings, 1), [[5, FREQUENCY_LIMIT]]);
  postings.append(1, 9 * 256 + 7);
  assert.deepEqual(read(postings, 1), [[5, FREQUENCY_LIMIT], [9, 7]]);
  for (let i = 0; i < 10_000; i++) postings.add(i, 10 + i);
  assert.ok(postings.bytes > empty + 10_000 * 4 * 4);
});

Deno.test("long lists and many chunks give what was put in", () => {
  const random = uniform(8);
  const postings = new Postings();
  const model = new Map<number, number[]>();
  // One term in every document, some in many, and so many seldom ones that there are many chunks.
  for (let document = 0; document < 30_000; document++) {
    const hashes = [1, 2 + Math.floor(random() * 3), 5 + Math.floor(random() * 50_000)];
    for (const hash of hashes) {
      postings.add(hash, document);
      model.getOrInsertComputed(hash, () => []).push(document);
    }
  }
  const check = (checked: Postings) => {
    for (const [hash, list] of model) {
      assert.deepEqual(read(checked, hash).map(([document]) => document), list);
    }
  };
  check(postings);
  const { state } = postings;
  assert.ok(state.chunks.length > 2 && state.chunks.every(({ length }) => length <= 65_536));
  // Taken over, it grows as the first one does.
  const again = Postings.from({
    ...state,
    cells: state.cells.slice(),
    chunks: state.chunks.map((chunk) => chunk.slice()),
  });
  for (let document = 30_000; document < 40_000; document++) {
    for (const hash of [1, 5 + document % 50_000]) {
      again.add(hash, document);
      model.getOrInsertComputed(hash, () => []).push(document);
    }
  }
  check(again);
  assert.throws(() => Postings.from({ ...state, chunks: [] }), RangeError);
  const chunks = [new Uint32Array(65_537)];
  assert.throws(() => Postings.from({ ...state, chunks }), RangeError);
});
