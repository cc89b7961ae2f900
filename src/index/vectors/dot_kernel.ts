import { RELAXED_KERNEL } from "./kernel.ts";
import { LEAST_SCALE } from "./least_scale.ts";

/** Which build of the kernel runs; all agree up to rounding. */
export type KernelBuild = "relaxed" | "plain";

/** Functions over one memory; positions are byte offsets. */
export interface DotKernel {
  /**
   * Writes the dot products of `n` rows at `base` with the vector at `q` to `out`. `n` is rounded up
   * to a multiple of 4; `dim`, the number of floats a row, is a multiple of 8. Float `i` of row `r`
   * lies {@linkcode rowOffset}`(r, dim) + `{@linkcode floatOffset}`(i)` floats after `base`.
   */
  dots_f32(base: number, q: number, out: number, n: number, dim: number): void;
  /** Dot product of the row that starts at `row` with the vector at `q`, as `dots_f32` writes it. */
  dot_f32(row: number, q: number, dim: number): number;
  /**
   * Writes the dot products of `n` rows of signed bytes at `base` with the bytes at `q`, each 0 to
   * 127, to `out`, as 32-bit integers. `n` is rounded up to a multiple of 16; `dim`, the number of
   * bytes a row, is a multiple of 16. Byte `i` of row `r` lies
   * {@linkcode byteRowOffset}`(r, dim) + `{@linkcode byteOffset}`(i)` after `base`.
   */
  dots_i8(base: number, q: number, out: number, n: number, dim: number): void;
  /** Writes the `dim` floats at `source`, a multiple of 16, to the row that starts at `floats`. */
  place_row(source: number, floats: number, dim: number): void;
  /**
   * Writes the row of `dim` floats that starts at `floats` to the row that starts at `bytes`, in steps
   * of the largest / 127. The four floats at `out` are then that step, the sum of the bytes, and the
   * sums of the squares of the floats and of what rounding changed.
   */
  round_row(floats: number, bytes: number, out: number, dim: number): void;
}

/** Where a row starts, in floats: four rows lie interleaved, four floats each in turn. */
export function rowOffset(row: number, dim: number): number {
  return (row >> 2) * 4 * dim + (row & 3) * 4;
}

/** Distance of a float from the start of its row, in floats. */
export function floatOffset(index: number): number {
  return (index >> 2) * 16 + (index & 3);
}

/** Where a row of bytes starts: four rows lie interleaved, sixteen bytes each in turn. */
export function byteRowOffset(row: number, dim: number): number {
  return (row >> 2) * 4 * dim + (row & 3) * 16;
}

/** Distance of a byte from the start of its row. */
export function byteOffset(index: number): number {
  return (index >> 4) * 64 + (index & 15);
}

const decode = (base64: string): Uint8Array<ArrayBuffer> => Uint8Array.fromBase64(base64);

/** The fastest build this processor can run. */
export function bestKernel(): KernelBuild {
  return WebAssembly.validate(decode(RELAXED_KERNEL)) ? "relaxed" : "plain";
}

export function openKernel(
  memory: WebAssembly.Memory,
  build: KernelBuild = bestKernel(),
): DotKernel {
  if (build === "plain") return new PlainKernel(memory);
  const module = new WebAssembly.Module(decode(RELAXED_KERNEL));
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  return exports as unknown as DotKernel;
}

/** The same without SIMD, for processors that lack it. */
class PlainKernel implements DotKernel {
  readonly #memory: WebAssembly.Memory;

  constructor(memory: WebAssembly.Memory) {
    this.#memory = memory;
  }

  dots_f32(base: number, q: number, out: number, n: number, dim: number): void {
    const query = new Float32Array(this.#memory.buffer, q, dim);
    const count = (n + 3) & ~3;
    const rows = new Float32Array(this.#memory.buffer, base, count * dim);
    const sums = new Float32Array(this.#memory.buffer, out, count);
    for (let row = 0; row < count; row++) {
      sums[row] = plainProduct(rows, rowOffset(row, dim), query);
    }
  }

  dot_f32(row: number, q: number, dim: number): number {
    const floats = new Float32Array(this.#memory.buffer);
    return Math.fround(
      plainProduct(floats, row / 4, new Float32Array(this.#memory.buffer, q, dim)),
    );
  }

  dots_i8(base: number, q: number, out: number, n: number, dim: number): void {
    const query = new Int8Array(this.#memory.buffer, q, dim);
    const count = (n + 15) & ~15;
    const rows = new Int8Array(this.#memory.buffer, base, count * dim);
    const sums = new Int32Array(this.#memory.buffer, out, count);
    for (let row = 0; row < count; row++) {
      const start = byteRowOffset(row, dim);
      let sum = 0;
      for (let i = 0; i < dim; i++) sum += rows[start + byteOffset(i)]! * query[i]!;
      sums[row] = sum;
    }
  }

  place_row(source: number, floats: number, dim: number): void {
    const row = new Float32Array(this.#memory.buffer);
    for (let i = 0; i < dim; i++) row[floats / 4 + floatOffset(i)] = row[source / 4 + i]!;
  }

  round_row(floats: number, bytes: number, out: number, dim: number): void {
    const all = new Float32Array(this.#memory.buffer);
    const vector = Float32Array.from(
      { length: dim },
      (_, i) => all[floats / 4 + floatOffset(i)]!,
    );
    const rounded = new Int8Array(this.#memory.buffer);
    let largest = 0;
    for (let i = 0; i < dim; i++) largest = Math.max(largest, Math.abs(vector[i]!));
    const step = Math.fround(largest / 127);
    const scale = step < LEAST_SCALE ? 0 : step;
    let sum = 0;
    let squares = 0;
    let errors = 0;
    for (let i = 0; i < dim; i++) {
      const value = vector[i]!;
      const byte = scale === 0 ? 0 : Math.round(value / scale);
      rounded[bytes + byteOffset(i)] = byte;
      sum += byte;
      squares += value * value;
      errors += (value - byte * scale) ** 2;
    }
    all.set([scale, sum, squares, errors], out / 4);
  }
}

/** Product of the row that starts at `first` with a vector. */
function plainProduct(rows: Float32Array, first: number, vector: Float32Array): number {
  let sum = 0;
  let at = first;
  for (let i = 0; i < vector.length; i += 4, at += 16) {
    sum += rows[at]! * vector[i]! + rows[at + 1]! * vector[i + 1]! +
      rows[at + 2]! * vector[i + 2]! + rows[at + 3]! * vector[i + 3]!;
  }
  return sum;
}
