import { FMA_KERNEL } from "./kernel.ts";

/** A build of the matrix product: relaxed SIMD, or no WebAssembly where a processor lacks it. */
export type KernelName = "fma" | "js";

/** A matrix to multiply by, and where the result goes; offsets and strides in elements. */
interface Product {
  /** Left matrix, `rows` x `depth`. */
  readonly a: number;
  /** Distance between rows of `a`. */
  readonly lda: number;
  /**
   * Right matrix, `depth` x `columns`, packed in panels of 8 columns: element (p, j) is at
   * `floor(j / 8) * depth * 8 + p * 8 + j % 8`.
   */
  readonly b: number;
  /** Row that is added to every row of the result, `columns` elements. */
  readonly bias: number;
  /** Result, `rows` x `columns`. */
  readonly c: number;
  /** Distance between rows of `c`. */
  readonly ldc: number;
  /** From 1; below 6, `a` and `c` must have 6 rows that may be read and overwritten. */
  readonly rows: number;
  /** From 1. */
  readonly depth: number;
  /** A multiple of 8. */
  readonly columns: number;
}

/** The matrix product and the memory it works on. */
export interface Kernel {
  readonly name: KernelName;
  /** All weights and intermediate values, single precision. */
  readonly heap: Float32Array;
  /** Multiply-adds that take well under a millisecond. */
  readonly grain: number;
  /** c = a b + bias. */
  multiply(product: Product): void;
}

const decode = (): Uint8Array<ArrayBuffer> => Uint8Array.fromBase64(FMA_KERNEL);
const PAGE_FLOATS = 65536 / 4;
/** Above this many rows the faster blocks of 6 rows win, whatever they waste at the end. */
const LOW_ROWS = 16;

type WasmProduct = (...bytesAndCounts: number[]) => void;

const padded = (rows: number, height: number) => Math.ceil(rows / height) * height;

/** The fastest build this processor can run. */
export function bestKernel(): KernelName {
  return WebAssembly.validate(decode()) ? "fma" : "js";
}

/** A kernel with a zeroed heap of at least `floats` elements; the fastest build by default. */
export function createKernel(
  floats: number,
  name: KernelName = bestKernel(),
): Kernel {
  if (name === "js") return plainKernel(new Float32Array(floats));
  const memory = new WebAssembly.Memory({ initial: Math.ceil(floats / PAGE_FLOATS) });
  const module = new WebAssembly.Module(decode());
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  const low = exports.multiply4 as WasmProduct;
  const high = exports.multiply6 as WasmProduct;
  return {
    name,
    heap: new Float32Array(memory.buffer),
    grain: 4e6,
    multiply({ a, lda, b, bias, c, ldc, rows, depth, columns }) {
      const run = padded(rows, 4) < padded(rows, 6) && rows <= LOW_ROWS ? low : high;
      run(a * 4, b * 4, bias * 4, c * 4, rows, depth, columns, lda * 4, ldc * 4);
    },
  };
}

function plainKernel(heap: Float32Array): Kernel {
  const at = (index: number) => heap[index]!;
  return {
    name: "js",
    heap,
    grain: 3e5,
    multiply({ a, lda, b, bias, c, ldc, rows, depth, columns }) {
      for (let j = 0; j < columns; j += 4) {
        const panel = b + (j >> 3) * depth * 8 + (j & 7);
        for (let i = 0; i < rows; i++) {
          let s0 = at(bias + j);
          let s1 = at(bias + j + 1);
          let s2 = at(bias + j + 2);
          let s3 = at(bias + j + 3);
          const row = a + i * lda;
          for (let p = 0; p < depth; p++) {
            const value = at(row + p);
            const y = panel + p * 8;
            s0 += value * at(y);
            s1 += value * at(y + 1);
            s2 += value * at(y + 2);
            s3 += value * at(y + 3);
          }
          const to = c + i * ldc + j;
          heap[to] = s0;
          heap[to + 1] = s1;
          heap[to + 2] = s2;
          heap[to + 3] = s3;
        }
      }
    },
  };
}
