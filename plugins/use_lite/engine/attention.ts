import type { Kernel } from "./matrix_product.ts";
import type { Scratch } from "./scratch.ts";

const HEADS = 4;

/** Rows of one window within a pass. */
export interface Span {
  /** The first one. */
  readonly row: number;
  /** How many there are, 1 to 128. */
  readonly tokens: number;
}

/**
 * Scaled dot-product attention with 4 heads (Vaswani et al., 2017, section 3.2), from
 * `scratch.wide` to `scratch.normed`. Yields between parts that take well under a millisecond.
 *
 * Windows must be done in the order of their rows: one with fewer than 6 tokens leaves waste in
 * the rows after it.
 *
 * @param width Width of queries, of keys and of values: 256 or 512.
 */
export function* attend(
  kernel: Kernel,
  scratch: Scratch,
  { row, tokens }: Span,
  width: number,
): Generator<void, void> {
  const { heap } = kernel;
  const { packed, attention, zeros } = scratch;
  const depth = width / HEADS;
  const columns = Math.ceil(tokens / 8) * 8;
  for (let head = 0; head < HEADS; head++) {
    const queries = scratch.wide + row * 3 * width + head * depth;
    const keys = queries + width;
    const values = keys + width;
    packKeys(heap, { from: keys, stride: 3 * width, tokens, depth, to: packed });
    kernel.multiply({
      a: queries,
      lda: 3 * width,
      b: packed,
      bias: zeros,
      c: attention,
      ldc: columns,
      rows: tokens,
      depth,
      columns,
    });
    yield;
    softmaxRows(heap, attention, tokens, columns, depth ** -0.5);
    yield;
    packValues(heap, { from: values, stride: 3 * width, tokens, depth, to: packed });
    kernel.multiply({
      a: attention,
      lda: columns,
      b: packed,
      bias: zeros,
      c: scratch.normed + row * width + head * depth,
      ldc: width,
      rows: tokens,
      depth: tokens,
      columns: depth,
    });
    yield;
  }
}

interface PackInput {
  readonly from: number;
  readonly stride: number;
  readonly tokens: number;
  readonly depth: number;
  readonly to: number;
}

/** The transposed keys in panels of 8 tokens; the last panel is filled up with zeros. */
function packKeys(heap: Float32Array, { from, stride, tokens, depth, to }: PackInput): void {
  for (let panel = 0; panel < tokens; panel += 8) {
    const start = to + panel * depth;
    if (panel + 8 > tokens) heap.fill(0, start, start + 8 * depth);
    for (let token = panel; token < Math.min(panel + 8, tokens); token++) {
      const source = from + token * stride;
      const target = start + token - panel;
      for (let i = 0; i < depth; i++) heap[target + i * 8] = heap[source + i]!;
    }
  }
}

/** The values in panels of 8 columns. */
function packValues(heap: Float32Array, { from, stride, tokens, depth, to }: PackInput): void {
  let next = to;
  for (let panel = 0; panel < depth; panel += 8) {
    for (let token = 0; token < tokens; token++) {
      const source = from + token * stride + panel;
      for (let i = source; i < source + 8; i++) heap[next++] = heap[i]!;
    }
  }
}

/** Of a square matrix whose rows begin `stride` numbers apart. */
function softmaxRows(
  heap: Float32Array,
  at: number,
  size: number,
  stride: number,
  scale: number,
): void {
  for (let row = 0; row < size; row++) {
    const start = at + row * stride;
    const end = start + size;
    let largest = -Infinity;
    for (let i = start; i < end; i++) largest = Math.max(largest, heap[i]!);
    let sum = 0;
    for (let i = start; i < end; i++) {
      const value = Math.exp((heap[i]! - largest) * scale);
      heap[i] = value;
      sum += value;
    }
    for (let i = start; i < end; i++) heap[i]! /= sum;
  }
}
