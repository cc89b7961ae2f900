// JSON: of a module of this size a second copy would be cached.
import weights from "./adaptation_weights.json" with { type: "json" };
import type { Kernel } from "./matrix_product.ts";
import type { Scratch } from "./scratch.ts";
import type { Tensor } from "./weights_file.ts";

interface Factors {
  readonly rank: number;
  /** Position of the matrix's numbers. */
  readonly factorsAt: number;
  readonly scalesAt: number;
}

/**
 * What the encoder learned beyond the weights of the package: W + A diag(s) B for every matrix W,
 * with signed bytes in A and B (Hu et al., 2021, "LoRA", section 4.1). It was trained on facts as
 * people note them and queries that do not use their words (eval/training/README.md).
 */
export class Adaptation {
  readonly #kernel: Kernel;
  readonly #scratch: Scratch;
  readonly #factors: Int8Array;
  readonly #scales: Float32Array;
  readonly #matrices = new Map<string, Factors>();

  /** `scratch` holds nothing of value meanwhile. */
  constructor(kernel: Kernel, scratch: Scratch) {
    this.#kernel = kernel;
    this.#scratch = scratch;
    this.#factors = new Int8Array(Uint8Array.fromBase64(weights.factors).buffer);
    this.#scales = new Float32Array(Uint8Array.fromBase64(weights.scales).buffer);
    let [factorsAt, scalesAt] = [0, 0];
    for (const { name, inputs, outputs, rank } of weights.matrices) {
      this.#matrices.set(name, { rank, factorsAt, scalesAt });
      factorsAt += rank * (inputs + outputs);
      scalesAt += rank;
    }
  }

  /** Adds what was learned to a matrix of the model, row-major; other tensors stay as they are. */
  apply({ name, shape, values }: Tensor): void {
    const matrix = this.#matrices.get(name);
    if (matrix === undefined) return;
    const { heap } = this.#kernel;
    const { rows: most, stream: zeros, normed: a, delta: b, wide: c } = this.#scratch;
    const { rank, factorsAt, scalesAt } = matrix;
    const outputs = shape.at(-1)!;
    const inputs = values.length / outputs;
    const scales = this.#scales.subarray(scalesAt, scalesAt + rank);
    const left = this.#factors.subarray(factorsAt, factorsAt + rank * inputs);
    const right = this.#factors.subarray(factorsAt + rank * inputs);
    heap.fill(0, zeros, zeros + outputs);
    for (let k = 0; k < rank; k++) {
      for (let j = 0; j < outputs; j++) {
        heap[b + (j >> 3) * rank * 8 + k * 8 + (j & 7)] = right[k * outputs + j]! * scales[k]!;
      }
    }
    for (let row = 0; row < inputs; row += most) {
      const rows = Math.min(most, inputs - row);
      for (let i = 0; i < rows; i++) {
        for (let k = 0; k < rank; k++) heap[a + i * rank + k] = left[k * inputs + row + i]!;
      }
      this.#kernel.multiply({
        a,
        lda: rank,
        b,
        bias: zeros,
        c,
        ldc: outputs,
        rows,
        depth: rank,
        columns: outputs,
      });
      const at = row * outputs;
      for (let i = 0; i < rows * outputs; i++) values[at + i]! += heap[c + i]!;
    }
  }
}
