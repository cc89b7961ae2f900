import { BrokenModel } from "./models/files.ts";

/** What a model answered for a batch: the numbers, and how they lie. */
export interface Answered {
  readonly data: Float32Array;
  readonly dims: readonly number[];
}

/** Texts of a batch, as far as the answer depends on them. */
interface Batch {
  /** Tokens of each text. */
  readonly lengths: readonly number[];
  /** Tokens of the longest one, to which the others were filled up. */
  readonly longest: number;
}

interface Shape {
  readonly pooling: "mean" | "cls" | "last" | "none";
  /** Length of the model's vectors. */
  readonly width: number;
  /** Length to which they are cut. */
  readonly dimensions: number;
}

/** Scales a vector to unit length. */
function normalise(vector: Float32Array<ArrayBuffer>): Float32Array<ArrayBuffer> {
  let sum = 0;
  for (const value of vector) sum += value * value;
  if (!Number.isFinite(sum) || sum === 0) {
    throw new BrokenModel("The model made a vector without a direction");
  }
  const scale = 1 / Math.sqrt(sum);
  for (let i = 0; i < vector.length; i++) vector[i]! *= scale;
  return vector;
}

/**
 * The vectors of a batch, one a text: pooled, cut and scaled to unit length.
 *
 * @throws {BrokenModel} when the answer has another shape than the model is said to have.
 */
export function vectorsOf(
  { data, dims }: Answered,
  { lengths, longest }: Batch,
  { pooling, width, dimensions }: Shape,
): Float32Array<ArrayBuffer>[] {
  const expected = pooling === "none" ? [lengths.length, width] : [lengths.length, longest, width];
  if (dims.length !== expected.length || dims.some((dim, i) => dim !== expected[i])) {
    throw new BrokenModel(
      `The model answers in the shape ${dims.join(" × ")} instead of ${expected.join(" × ")}`,
    );
  }
  return lengths.map((length, text) => {
    const vector = new Float32Array(dimensions);
    const start = text * (pooling === "none" ? width : longest * width);
    const add = (at: number) => {
      for (let i = 0; i < dimensions; i++) vector[i]! += data[start + at * width + i]!;
    };
    if (pooling === "mean") { for (let token = 0; token < length; token++) add(token); }
    else add(pooling === "last" ? length - 1 : 0);
    return normalise(vector);
  });
}
