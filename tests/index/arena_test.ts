import assert from "node:assert/strict";
import { SvcError } from "../../src/errors.ts";
import { Arena, SLAB_ROWS } from "../../src/index/arena.ts";
import { uniform, unitVector } from "../../bench/statistics.ts";
import { unit } from "./fakes.ts";

Deno.test("vectors survive growth of the memory", () => {
  const arena = new Arena(100);
  const slabs: number[] = [];
  const buffers = new Set<ArrayBufferLike>();
  for (let i = 0; i < 1500; i++) {
    slabs.push(arena.allocate());
    arena.write(slabs[i]!, i % SLAB_ROWS, new Float32Array(100).fill(i));
    buffers.add(arena.floats.buffer);
  }
  assert(buffers.size >= 4, "the memory grew several times");
  arena.aim(new Float32Array(100).fill(1));
  slabs.forEach((slab, i) => {
    arena.score(slab, SLAB_ROWS);
    const expected = i * 10;
    assert(Math.abs(arena.scores[i % SLAB_ROWS]! - expected) <= expected * 1e-4 + 1e-6);
  });
});

Deno.test("rows of any length are padded with zeros", () => {
  for (const dimensions of [1, 2, 5, 7, 8, 9, 100]) {
    const arena = new Arena(dimensions);
    const slab = arena.allocate();
    // What an earlier tenant left behind must not count.
    arena.floats.fill(3, slab / 4, slab / 4 + SLAB_ROWS * arena.stride);
    const vector = unit(...Array.from({ length: dimensions }, (_, i) => i + 1));
    arena.write(slab, 6, vector);
    arena.move(slab, 6, slab, 3);
    arena.aim(vector);
    arena.score(slab, SLAB_ROWS);
    assert(Math.abs(arena.scores[6]! - 1) < 1e-6);
    assert.equal(arena.scores[3], arena.scores[6]);
  }
});

Deno.test("released slabs are used again", () => {
  const arena = new Arena(8);
  const slabs = [arena.allocate(), arena.allocate(), arena.allocate()];
  assert.equal(new Set(slabs).size, 3);
  arena.release(slabs.slice(0, 2));
  const again = [arena.allocate(), arena.allocate()];
  assert.deepEqual(again.sort(), slabs.slice(0, 2).sort());
  assert(arena.allocate() > slabs[2]!);
});

Deno.test("a full arena is overloaded, and usable once slabs are released", () => {
  const arena = new Arena(512, { limit: 1 << 20 });
  const slabs: number[] = [];
  assert.throws(
    () => {
      for (;;) slabs.push(arena.allocate());
    },
    (error) => error instanceof SvcError && error.code === "overloaded",
  );
  assert.equal(slabs.length, Math.floor(((1 << 20) - 4096) / arena.slabBytes));
  arena.release(slabs.slice(-1));
  assert.equal(arena.allocate(), slabs[slabs.length - 1]);
});

Deno.test("the query is scaled, and refused when it is no direction", () => {
  const arena = new Arena(3);
  const slab = arena.allocate();
  arena.write(slab, 0, unit(1, 2, 3));
  arena.aim(Float32Array.of(10, 20, 30));
  arena.score(slab, 1);
  assert(Math.abs(arena.scores[0]! - 1) < 1e-6);
  arena.aim(new Float32Array(3));
  arena.score(slab, 1);
  assert.equal(arena.scores[0], 0);
  const code = (vector: Float32Array): string => {
    try {
      arena.aim(vector);
    } catch (error) {
      if (error instanceof SvcError) return error.code;
    }
    return "none";
  };
  assert.equal(code(new Float32Array(4)), "dimension_mismatch");
  assert.equal(code(Float32Array.of(1, NaN, 0)), "invalid_vector");
  assert.equal(code(Float32Array.of(1, Infinity, 0)), "invalid_vector");
});

Deno.test("scores from bytes are within their bound, and those of one row are exact", () => {
  const random = uniform(9);
  for (const dimensions of [3, 16, 100, 512]) {
    const arena = new Arena(dimensions);
    const slab = arena.allocate();
    let rounding = { length: 0, error: 0 };
    for (let row = 0; row < SLAB_ROWS; row++) {
      // Of any length, one of them zero.
      const vector = unitVector(dimensions, random).map((value) => value * row / 3);
      const own = arena.write(slab, row, vector);
      assert(Math.abs(own.length - row / 3) < 1e-4);
      assert(own.error <= own.length * 0.1);
      rounding = {
        length: Math.max(rounding.length, own.length),
        error: Math.max(rounding.error, own.error),
      };
    }
    arena.move(slab, 9, slab, 4);
    arena.aim(unitVector(dimensions, random));
    arena.score(slab, SLAB_ROWS);
    const exact = arena.scores.slice();
    arena.aimBytes();
    arena.scoreBytes(slab, SLAB_ROWS);
    const rounded = arena.scores.slice();
    exact.forEach((score, row) => {
      assert(Math.abs(score - rounded[row]!) <= arena.bound(rounding));
      assert.equal(arena.scoreRow(slab, row), score);
    });
    assert.equal(rounded[4], rounded[9]);
  }
});
