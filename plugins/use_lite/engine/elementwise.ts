import type { Norm } from "./weights.ts";

const WIDTH = 512;
/** Added to a variance before its root, as in the trained graph. */
const EPSILON = 1e-6;

/** Layer normalisation of every row (Ba et al., 2016). */
export function normalizeRows(
  heap: Float32Array,
  from: number,
  to: number,
  rows: number,
  { scale, bias }: Norm,
): void {
  const width = scale.length;
  for (let row = 0; row < rows; row++) {
    const source = from + row * width;
    const target = to + row * width;
    let mean = 0;
    for (let i = 0; i < width; i++) mean += heap[source + i]!;
    mean /= width;
    let variance = 0;
    for (let i = 0; i < width; i++) {
      const centred = heap[source + i]! - mean;
      variance += centred * centred;
    }
    const factor = 1 / Math.sqrt(variance / width + EPSILON);
    for (let i = 0; i < width; i++) {
      heap[target + i] = (heap[source + i]! - mean) * factor * scale[i]! + bias[i]!;
    }
  }
}

/** to += from. */
export function addRows(heap: Float32Array, to: number, from: number, length: number): void {
  for (let i = 0; i < length; i++) heap[to + i]! += heap[from + i]!;
}

/** Negative numbers become 0. */
export function rectify(heap: Float32Array, at: number, length: number): void {
  for (let i = at; i < at + length; i++) {
    if (heap[i]! < 0) heap[i] = 0;
  }
}

export function meanRow(heap: Float32Array, from: number, to: number, rows: number): void {
  for (let i = 0; i < WIDTH; i++) {
    let sum = 0;
    for (let row = 0; row < rows; row++) sum += heap[from + row * WIDTH + i]!;
    heap[to + i] = sum / rows;
  }
}

/** tanh of a row, scaled to unit length. */
export function unitTanh(heap: Float32Array, from: number): Float32Array {
  const vector = new Float32Array(WIDTH);
  let squares = 0;
  for (let i = 0; i < WIDTH; i++) {
    const value = Math.tanh(heap[from + i]!);
    vector[i] = value;
    squares += value * value;
  }
  const length = Math.sqrt(squares);
  for (let i = 0; i < WIDTH; i++) vector[i]! /= length;
  return vector;
}
