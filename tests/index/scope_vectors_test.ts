import fc from "fast-check";
import assert from "node:assert/strict";
import { SvcError } from "../../src/errors.ts";
import { Arena } from "../../src/index/vectors/arena.ts";
import { ScopeVectors } from "../../src/index/vectors/scope_vectors.ts";
import { uniform, unitVector } from "../../bench/statistics.ts";
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
      assert.deepEqual(vectors.vectorOf(slot), own.length === 1 ? own[0] : undefined);
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

Deno.test("emptied blocks go back to the arena", () => {
  const arena = new Arena(8);
  const first = new ScopeVectors(arena);
  const empty = first.bytes;
  for (let i = 0; i < 100; i++) first.add([new Float32Array(8)]);
  assert(first.bytes >= empty + 6 * arena.blockBytes);
  while (first.size > 0) first.remove(0);
  const end = arena.floats.byteLength;
  const second = new ScopeVectors(arena);
  for (let i = 0; i < 100; i++) second.add([new Float32Array(8)]);
  assert.equal(arena.floats.byteLength, end);
  second.release();
  assert.equal(second.bytes, 0);
});

Deno.test("an arena without room for the bytes is overloaded, and gets everything back", () => {
  // Room for 801 rows of floats, not for those of their bytes.
  const arena = new Arena(512, { limit: (1 + 26 + 2) * 65_536 });
  const vectors = new ScopeVectors(arena);
  const fill = () => {
    for (let i = 0; i < 801; i++) vectors.add([new Float32Array(512).fill(i + 1)]);
  };
  for (let turn = 0; turn < 2; turn++) {
    assert.throws(fill, (error) => error instanceof SvcError && error.code === "overloaded");
    assert.equal(vectors.rows, 801);
    vectors.release();
    assert.equal(vectors.bytes, 0);
  }
  const other = new ScopeVectors(arena);
  for (let i = 0; i < 800; i++) other.add([new Float32Array(512).fill(1)]);
  assert.equal(other.distances(new Float32Array(512).fill(1))[799]! < 1e-5, true);
});

Deno.test("many rows are kept as bytes, too, and few are not", () => {
  const arena = new Arena(DIMENSIONS);
  const random = uniform(3);
  const vectors = new ScopeVectors(arena);
  const model: Float32Array[][] = [];
  const query = unitVector(DIMENSIONS, random);
  /** The largest difference between the answers of bytes and floats, and what it may be. */
  const difference = (): { found: number; bound: number } => {
    const exact = vectors.distances(query).slice(0, vectors.size);
    model.forEach((own, slot) => {
      assert(Math.abs(exact[slot]! - distanceOf(query, own)) < 1e-5);
      assert.equal(Math.fround(vectors.distance(slot)), exact[slot]);
    });
    const { distances, bound } = vectors.roundedDistances(query);
    return { found: Math.max(...exact.map((own, i) => Math.abs(own - distances[i]!))), bound };
  };
  const add = (): void => {
    const windows = Array.from({ length: model.length % 90 === 0 ? 3 : 1 }, () => {
      return unitVector(DIMENSIONS, random);
    });
    model.push(windows);
    vectors.add(windows);
  };
  const remove = (): void => {
    const slot = Math.floor(random() * model.length);
    vectors.remove(slot);
    const last = model.pop()!;
    if (slot < model.length) model[slot] = last;
  };
  for (let turn = 0; turn < 2; turn++) {
    while (vectors.rows < 800) add();
    assert(!vectors.isRounded);
    const few = vectors.bytes;
    while (vectors.rows < 1000) {
      add();
      assert(vectors.isRounded);
      if (vectors.rows % 13 > 0) continue;
      const { found, bound } = difference();
      assert(found > 0 && found <= bound, `${found} of ${bound}`);
    }
    assert(vectors.bytes > few);
    while (vectors.rows > 420) {
      remove();
      if (vectors.rows % 13 > 0) continue;
      const { found, bound } = difference();
      assert(found > 0 && found <= bound, `${found} of ${bound}`);
    }
    while (vectors.rows > 399) remove();
    assert(!vectors.isRounded);
    assert(vectors.bytes < few);
  }
  const end = arena.floats.byteLength;
  while (vectors.rows < 900) add();
  assert.equal(arena.floats.byteLength, end, "blocks are used again");
  vectors.release();
  assert.equal(vectors.bytes, 0);
  assert(!vectors.isRounded);
});
