import { attend, type Span } from "./attention.ts";
import { addRows, meanRow, normalizeRows, rectify, unitTanh } from "./elementwise.ts";
import type { Kernel } from "./matrix_product.ts";
import type { Scratch } from "./scratch.ts";
import type { Layer, Linear, Weights } from "./weights.ts";
import { DIMENSIONS, WINDOW_TOKENS } from "./windows.ts";

const EMBEDDING = 256;
const INNER = 1536;

/**
 * The encoder of the Universal Sentence Encoder lite (Cer et al., 2018): token embeddings with
 * position waves, two pre-norm transformer layers, mean over tokens, tanh layer, unit length.
 */
export class Transformer {
  readonly #kernel: Kernel;
  readonly #weights: Weights;
  /** Sine and cosine waves, 128 x 256. */
  readonly #positions: Float32Array;

  /** Takes weights that are in the kernel's heap. */
  constructor(kernel: Kernel, weights: Weights) {
    this.#kernel = kernel;
    this.#weights = weights;
    this.#positions = positionWaves(weights.frequencies);
  }

  /**
   * Vectors of token windows, in order. Runs for well under a millisecond between yields; its
   * intermediate values live in `scratch`, so runs on different areas may be interleaved.
   *
   * @param windows Token ids, 1 to 128 a window.
   */
  *run(scratch: Scratch, windows: readonly Uint16Array[]): Generator<void, Float32Array[]> {
    const vectors: Float32Array[] = [];
    for (let first = 0; first < windows.length;) {
      let next = first;
      let tokens = 0;
      while (next < windows.length && tokens + windows[next]!.length <= scratch.rows) {
        tokens += windows[next++]!.length;
      }
      if (next === first) throw new RangeError("A window is too long");
      vectors.push(...yield* this.#pass(scratch, windows.slice(first, next)));
      first = next;
    }
    return vectors;
  }

  *#pass(scratch: Scratch, windows: readonly Uint16Array[]): Generator<void, Float32Array[]> {
    const { heap } = this.#kernel;
    const { stream, normed, delta } = scratch;
    const { layers, widen, output } = this.#weights;
    const spans: Span[] = [];
    let rows = 0;
    for (const window of windows) {
      spans.push({ row: rows, tokens: window.length });
      this.#lookUp(window, stream + rows * EMBEDDING);
      rows += window.length;
    }
    yield;
    for (const layer of layers) {
      yield* this.#attention(scratch, layer, spans, rows);
      if (layer.attention.inputs === DIMENSIONS) addRows(heap, stream, delta, rows * DIMENSIONS);
      else {
        yield* this.#linear(widen, stream, scratch.wide, rows);
        addRows(heap, delta, scratch.wide, rows * DIMENSIONS);
        heap.copyWithin(stream, delta, delta + rows * DIMENSIONS);
      }
      yield* this.#feedForward(scratch, layer, rows);
      addRows(heap, stream, delta, rows * DIMENSIONS);
      yield;
    }
    spans.forEach(({ row, tokens }, i) =>
      meanRow(heap, stream + row * DIMENSIONS, normed + i * DIMENSIONS, tokens)
    );
    yield* this.#linear(output, normed, delta, spans.length);
    return spans.map((_, i) => unitTanh(heap, delta + i * DIMENSIONS));
  }

  *#attention(
    scratch: Scratch,
    { attention, attentionNorm, projection }: Layer,
    spans: readonly Span[],
    rows: number,
  ): Generator<void, void> {
    const { stream, normed, wide, delta } = scratch;
    const width = attention.inputs;
    normalizeRows(this.#kernel.heap, stream, normed, rows, attentionNorm);
    yield;
    yield* this.#linear(attention, normed, wide, rows);
    for (const span of spans) yield* attend(this.#kernel, scratch, span, width);
    yield* this.#linear(projection, normed, delta, rows);
  }

  *#feedForward(
    { stream, normed, wide, delta }: Scratch,
    { forwardNorm, expand, contract }: Layer,
    rows: number,
  ): Generator<void, void> {
    normalizeRows(this.#kernel.heap, stream, normed, rows, forwardNorm);
    yield;
    yield* this.#linear(expand, normed, wide, rows);
    rectify(this.#kernel.heap, wide, rows * INNER);
    yield;
    yield* this.#linear(contract, wide, delta, rows);
  }

  /** Divided by columns: each part reads its share of the weights once. */
  *#linear(layer: Linear, from: number, to: number, rows: number): Generator<void, void> {
    const { inputs, outputs } = layer;
    const panels = Math.max(1, Math.floor(this.#kernel.grain / (rows * inputs * 8)));
    for (let column = 0; column < outputs; column += panels * 8) {
      this.#kernel.multiply({
        a: from,
        lda: inputs,
        b: layer.matrix + column * inputs,
        bias: layer.bias + column,
        c: to + column,
        ldc: outputs,
        rows,
        depth: inputs,
        columns: Math.min(panels * 8, outputs - column),
      });
      yield;
    }
  }

  #lookUp(window: Uint16Array, to: number): void {
    const { heap } = this.#kernel;
    for (let position = 0; position < window.length; position++) {
      const from = this.#weights.embeddings + window[position]! * EMBEDDING;
      const wave = position * EMBEDDING;
      const target = to + wave;
      for (let i = 0; i < EMBEDDING; i++) {
        // The trained graph doubles the embeddings.
        heap[target + i] = 2 * heap[from + i]! + this.#positions[wave + i]!;
      }
    }
  }
}

/** The timing signal of Vaswani et al., 2017, section 3.5: all sines, then all cosines. */
function positionWaves(frequencies: Float32Array): Float32Array {
  const half = frequencies.length;
  const waves = new Float32Array(WINDOW_TOKENS * 2 * half);
  for (let position = 0; position < WINDOW_TOKENS; position++) {
    for (let i = 0; i < half; i++) {
      const angle = position * frequencies[i]!;
      waves[position * 2 * half + i] = Math.sin(angle);
      waves[position * 2 * half + half + i] = Math.cos(angle);
    }
  }
  return waves;
}
