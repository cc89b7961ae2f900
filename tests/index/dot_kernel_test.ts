import assert from "node:assert/strict";
import { kernelModule } from "../../build/index_kernel.ts";
import {
  bestKernel,
  byteOffset,
  byteRowOffset,
  floatOffset,
  type KernelBuild,
  openKernel,
  rowOffset,
} from "../../src/index/vectors/dot_kernel.ts";

const BUILDS = new Set<KernelBuild>([bestKernel(), "plain"]);

/** Numbers in -1..1 that need all bits of a float. */
function wave(seed: number, i: number): number {
  return Math.fround(Math.sin(seed * 7919 + i * 104729));
}

Deno.test("kernel.ts is what build/index_kernel.ts writes", async () => {
  const file = new URL("../../src/index/vectors/kernel.ts", import.meta.url);
  assert.equal(await Deno.readTextFile(file), await kernelModule());
});

for (const dim of [8, 16, 72, 384, 512]) {
  Deno.test(`all builds compute the dot products of ${dim} floats`, () => {
    for (const n of [1, 3, 4, 5, 16, 67]) {
      const exact = Array.from({ length: n }, (_, row) => {
        let sum = 0;
        for (let i = 0; i < dim; i++) sum += wave(row, i) * wave(-1, i);
        return sum;
      });
      for (const build of BUILDS) {
        const memory = new WebAssembly.Memory({ initial: 8 });
        const floats = new Float32Array(memory.buffer);
        const base = 16384;
        const out = 8192;
        for (let i = 0; i < dim; i++) floats[i] = wave(-1, i);
        for (let row = 0; row < n; row++) {
          const start = base / 4 + rowOffset(row, dim);
          for (let i = 0; i < dim; i++) floats[start + floatOffset(i)] = wave(row, i);
        }
        const kernel = openKernel(memory, build);
        kernel.dots_f32(base, 0, out, n, dim);
        for (let row = 0; row < n; row++) {
          const difference = Math.abs(floats[out / 4 + row]! - exact[row]!);
          assert(difference <= 1e-5 * dim ** 0.5, `${build}, row ${row} of ${n}: ${difference}`);
          const one = kernel.dot_f32(base + rowOffset(row, dim) * 4, 0, dim);
          assert.equal(one, floats[out / 4 + row], `${build}, row ${row} of ${n} by itself`);
        }
        const padded = Math.ceil(n / 4) * 4;
        assert.equal(floats[out / 4 + padded], 0, `${build} writes no more than it must`);
      }
    }
  });
}

for (const dim of [16, 48, 512]) {
  Deno.test(`all builds compute the same products of ${dim} bytes`, () => {
    const memory = new WebAssembly.Memory({ initial: 8 });
    const bytes = new Int8Array(memory.buffer);
    const out = 8192;
    const base = 16384;
    // The extremes too: sums of neighbours must not be cut off at 16 bits.
    const query = Array.from({ length: dim }, (_, i) => i % 5 === 0 ? 127 : i * 37 % 128);
    const rows = Array.from(
      { length: 64 },
      (_, row) =>
        Array.from(
          { length: dim },
          (_, i) => row < 2 ? 127 - 254 * row : (i * 91 + row) % 255 - 127,
        ),
    );
    bytes.set(query);
    rows.forEach((values, row) =>
      values.forEach((value, i) => bytes[base + byteRowOffset(row, dim) + byteOffset(i)] = value)
    );
    const exact = rows.map((row) => row.reduce((sum, value, i) => sum + value * query[i]!, 0));
    for (const build of BUILDS) {
      for (const n of [1, 16, 17, 35, 64]) {
        const products = new Int32Array(memory.buffer, out, 68).fill(0);
        openKernel(memory, build).dots_i8(base, 0, out, n, dim);
        assert.deepEqual([...products.subarray(0, n)], exact.slice(0, n), `${build}, ${n}`);
        const beyond = [...products.subarray(Math.ceil(n / 16) * 16)];
        assert(beyond.every((product) => product === 0), "no more than it must");
      }
    }
  });
}

Deno.test("all builds write a row and say how it was rounded", () => {
  const dim = 48;
  const memory = new WebAssembly.Memory({ initial: 1 });
  const [floats, bytes] = [new Float32Array(memory.buffer), new Int8Array(memory.buffer)];
  const [row, rounded, out] = [1024, 8192, 16384];
  for (const size of [1, 1e-3, 0, 1e-38]) {
    const vector = Float32Array.from({ length: dim }, (_, i) => wave(3, i) * size);
    const largest = Math.max(...vector.map(Math.abs));
    for (const build of BUILDS) {
      new Uint8Array(memory.buffer).fill(255);
      floats.set(vector);
      const kernel = openKernel(memory, build);
      kernel.place_row(0, row, dim);
      kernel.round_row(row, rounded, out, dim);
      const [step = NaN, sum, squares = NaN, errors = NaN] = floats.subarray(out / 4, out / 4 + 4);
      assert.equal(step, size < 1e-30 ? 0 : Math.fround(largest / 127), build);
      let [expectedSum, expectedSquares, expectedErrors] = [0, 0, 0];
      vector.forEach((value, i) => {
        assert.equal(floats[row / 4 + floatOffset(i)], value);
        const byte = bytes[rounded + byteOffset(i)]!;
        assert(Math.abs(value - byte * step) <= step * 0.5001 + 1e-30, `${build}: ${value}`);
        expectedSum += byte;
        expectedSquares += value ** 2;
        expectedErrors += (value - byte * step) ** 2;
      });
      assert.equal(sum, expectedSum);
      assert(Math.abs(squares - expectedSquares) <= 1e-6 * expectedSquares + 1e-60);
      assert(Math.abs(errors - expectedErrors) <= 1e-4 * expectedErrors + 1e-60);
      assert.equal(bytes[rounded + byteOffset(dim)], -1, "no more than it must");
    }
  }
});
