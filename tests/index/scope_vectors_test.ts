import fc from "fast-check";
import assert from "node:assert/strict";
import { Arena } from "../../src/index/arena.ts";
import { ScopeVectors } from "../../src/index/scope_vectors.ts";
import { distanceOf, unit } from "./fakes.ts";

const DIMENSIONS = 6;
const vector = fc.array(fc.integer({ min: -5, max: 5 }), {
  minLength: DIMENSIONS,
  maxLength: DIMENSIONS,
}).filter((numbers) => numbers.some((x) => x !== 0)).map((numbers) => unit(...numbers));
const windows = fc.array(vector, { minLength: 1, maxLength: 16 });
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("add" as const), windows }) },
  fc.record({ do: fc.constant("replace" as const), windows, at: fc.nat() }),
  fc.record({ do: fc.constant("remove" as const), at: fc.nat() }),
);

Deno.test("slots keep their windows through adding, replacing and removing", () => {
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), vector, (steps, query) => {
    const vectors = new ScopeVectors(new Arena(DIMENSIONS));
    const model: Float32Array[][] = [];
    for (const one of steps) {
      if (one.do === "add" || model.length === 0) {
        if (!("windows" in one)) continue;
        vectors.add(one.windows);
        model.push(one.windows);
        continue;
      }
      const slot = one.at! % model.length;
      if (one.do === "replace") {
        vectors.replace(slot, one.windows);
        model[slot] = one.windows;
      } else {
        vectors.remove(slot);
        const last = model.pop()!;
        if (slot < model.length) model[slot] = last;
      }
    }
    assert.equal(vectors.size, model.length);
    assert.equal(vectors.rows, model.flat().length);
    const distances = vectors.distances(query);
    model.forEach((own, slot) => {
      assert(Math.abs(distances[slot]! - distanceOf(query, own)) < 1e-5);
    });
  }));
});

Deno.test("the closest window counts", () => {
  const vectors = new ScopeVectors(new Arena(2));
  vectors.add([unit(0, 1), unit(1, 0), unit(-1, 0)]);
  vectors.add([unit(0, 1)]);
  vectors.add([]);
  assert.deepEqual([...vectors.distances(unit(1, 0)).subarray(0, 3)], [0, 1, 2]);
  assert.deepEqual([...vectors.distances(unit(0, -1)).subarray(0, 3)], [1, 2, 2]);
});

Deno.test("emptied slabs go back to the arena", () => {
  const arena = new Arena(8);
  const first = new ScopeVectors(arena);
  const empty = first.bytes;
  for (let i = 0; i < 100; i++) first.add([new Float32Array(8)]);
  assert(first.bytes >= empty + 6 * arena.slabBytes);
  while (first.size > 0) first.remove(0);
  const end = arena.floats.byteLength;
  const second = new ScopeVectors(arena);
  for (let i = 0; i < 100; i++) second.add([new Float32Array(8)]);
  assert.equal(arena.floats.byteLength, end);
  second.release();
  assert.equal(second.bytes, 0);
});
