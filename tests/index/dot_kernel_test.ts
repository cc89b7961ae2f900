import assert from "node:assert/strict";
import { kernelModule } from "../../src/index/build_kernel.ts";
import {
  bestKernel,
  floatOffset,
  type KernelBuild,
  openKernel,
  rowOffset,
} from "../../src/index/dot_kernel.ts";

const BUILDS: KernelBuild[] = bestKernel() === "relaxed"
  ? ["relaxed", "simd", "plain"]
  : ["simd", "plain"];

/** Numbers in -1..1 that need all bits of a float. */
function wave(seed: number, i: number): number {
  return Math.fround(Math.sin(seed * 7919 + i * 104729));
}

Deno.test("kernel.ts is what build_kernel.ts writes", async () => {
  const file = new URL("../../src/index/kernel.ts", import.meta.url);
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
        openKernel(memory, build).dots_f32(base, 0, out, n, dim);
        for (let row = 0; row < n; row++) {
          const difference = Math.abs(floats[out / 4 + row]! - exact[row]!);
          assert(difference <= 1e-5 * dim ** 0.5, `${build}, row ${row} of ${n}: ${difference}`);
        }
        const padded = Math.ceil(n / 4) * 4;
        assert.equal(floats[out / 4 + padded], 0, `${build} writes no more than it must`);
      }
    }
  });
}

Deno.test("all builds read the same sum", () => {
  const memory = new WebAssembly.Memory({ initial: 1 });
  new Int32Array(memory.buffer).forEach((_, i, words) => words[i] = i * 2654435761);
  const sums = BUILDS.map((build) => openKernel(memory, build).sum_read(1024, 4096));
  assert.deepEqual(new Set(sums).size, 1);
  assert.notEqual(sums[0], 0);
});
