import assert from "node:assert/strict";
import { SvcError } from "../../src/errors.ts";
import { Arena, BYTE_ROWS, FLOAT_ROWS } from "../../src/index/vectors/arena.ts";
import { uniform, unitVector } from "../../bench/statistics.ts";
import { unit } from "./fakes.ts";

Deno.test("vectors survive growth of the memory", () => {
  const arena = new Arena(100);
  const blocks: number[] = [];
  const buffers = new Set<ArrayBufferLike>();
  for (let i = 0; i < 1500; i++) {
    blocks.push(arena.allocate());
    arena.write(blocks[i]!, i % FLOAT_ROWS, new Float32Array(100).fill(i));
    buffers.add(arena.floats.buffer);
  }
  assert(buffers.size >= 4, "the memory grew several times");
  arena.aim(new Float32Array(100).fill(1));
  blocks.forEach((block, i) => {
    arena.score(block, FLOAT_ROWS);
    const expected = i * 10;
    assert(Math.abs(arena.scores[i % FLOAT_ROWS]! - expected) <= expected * 1e-4 + 1e-6);
  });
});

Deno.test("rows of any length are padded with zeros", () => {
  for (const dimensions of [1, 2, 5, 7, 8, 9, 100]) {
    const arena = new Arena(dimensions);
    const block = arena.allocate();
    // What an earlier tenant left behind must not count.
    arena.floats.fill(3, block / 4, block / 4 + FLOAT_ROWS * arena.stride);
    const vector = unit(...Array.from({ length: dimensions }, (_, i) => i + 1));
    arena.write(block, 6, vector);
    arena.move(block, 6, block, 3);
    arena.aim(vector);
    arena.score(block, FLOAT_ROWS);
    assert(Math.abs(arena.scores[6]! - 1) < 1e-6);
    assert.equal(arena.scores[3], arena.scores[6]);
  }
});

Deno.test("released blocks are used again", () => {
  const arena = new Arena(8);
  const blocks = [arena.allocate(), arena.allocate(), arena.allocate()];
  assert.equal(new Set(blocks).size, 3);
  arena.release(blocks.slice(0, 2));
  const again = [arena.allocate(), arena.allocate()];
  assert.deepEqual(again.sort(), blocks.slice(0, 2).sort());
  assert(arena.allocate() > blocks[2]!);
});

Deno.test("a full arena is overloaded, and usable once blocks are released", () => {
  const arena = new Arena(512, { limit: 1 << 20 });
  const blocks: number[] = [];
  assert.throws(
    () => {
      for (;;) blocks.push(arena.allocate());
    },
    (error) => error instanceof SvcError && error.code === "overloaded",
  );
  assert.equal(blocks.length, Math.floor(((1 << 20) - 65_536) / arena.blockBytes));
  arena.release(blocks.slice(-1));
  assert.equal(arena.allocate(), blocks[blocks.length - 1]);
});

Deno.test("the query is scaled, and refused when it is no direction", () => {
  const arena = new Arena(3);
  const block = arena.allocate();
  arena.write(block, 0, unit(1, 2, 3));
  arena.aim(Float32Array.of(10, 20, 30));
  arena.score(block, 1);
  assert(Math.abs(arena.scores[0]! - 1) < 1e-6);
  arena.aim(new Float32Array(3));
  arena.score(block, 1);
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
    const blocks = Array.from({ length: BYTE_ROWS / FLOAT_ROWS }, () => arena.allocate());
    const bytes = arena.allocate();
    const numbers = new Float32Array(2 * BYTE_ROWS);
    let rounding = { length: 0, error: 0 };
    for (let row = 0; row < BYTE_ROWS; row++) {
      // Of any length, one of them zero.
      const vector = unitVector(dimensions, random).map((value) => value * row / 3);
      const [block, at] = [blocks[Math.floor(row / FLOAT_ROWS)]!, row % FLOAT_ROWS];
      arena.write(block, at, vector);
      const own = arena.round(block, at, bytes, row);
      assert(Math.abs(own.length - row / 3) < 1e-4);
      assert(own.error <= own.length * 0.1);
      numbers.set([own.scale, own.zero], 2 * row);
      rounding = {
        length: Math.max(rounding.length, own.length),
        error: Math.max(rounding.error, own.error),
      };
    }
    arena.move(blocks[0]!, 9, blocks[0]!, 4);
    const { scale, zero } = arena.round(blocks[0]!, 4, bytes, 4);
    numbers.set([scale, zero], 8);
    arena.aim(unitVector(dimensions, random));
    const exact = blocks.flatMap((block) => {
      arena.score(block, FLOAT_ROWS);
      return [...arena.scores.subarray(0, FLOAT_ROWS)];
    });
    arena.aimBytes();
    arena.scoreBytes(bytes, BYTE_ROWS, numbers, 0);
    const rounded = arena.scores.slice();
    exact.forEach((score, row) => {
      assert(Math.abs(score - rounded[row]!) <= arena.bound(rounding));
      const block = blocks[Math.floor(row / FLOAT_ROWS)]!;
      assert.equal(arena.scoreRow(block, row % FLOAT_ROWS), score);
    });
    assert.equal(rounded[4], rounded[9]);
  }
});
