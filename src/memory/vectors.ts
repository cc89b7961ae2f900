import { SvcError } from "../errors.ts";
import type { Embedder } from "../interfaces/mod.ts";
import { firstPerson } from "./first_person.ts";

/** Most windows of one text. */
const MAX_WINDOWS = 16;

/** How far a vector's length may be from 1 before it is scaled: what floats make of a length of 1. */
const ROUNDING = 1e-6;

/**
 * Length of a vector; NaN or infinite exactly when one of its values is. By index: callbacks and
 * iterators would make an object of every value.
 */
function lengthOf(vector: Float32Array): number {
  let squares = 0;
  for (let i = 0; i < vector.length; i++) squares += vector[i]! * vector[i]!;
  return Math.sqrt(squares);
}

/** The vector at unit length, which is what distances are computed from. */
function unit(vector: Float32Array, length: number): Float32Array {
  return Math.abs(length - 1) < ROUNDING ? vector : vector.map((value) => value / length);
}

/**
 * The vectors of one text, checked and at unit length: what an embedder made up must never reach the
 * index.
 *
 * @throws {SvcError} `embedding_unavailable` unless there are 1 to 16 finite vectors of the
 * embedder's length.
 */
export function checkedVectors(
  embedder: Embedder,
  vectors: readonly Float32Array[] | undefined,
): readonly Float32Array[] {
  if (vectors === undefined || vectors.length < 1 || vectors.length > MAX_WINDOWS) throw unusable();
  return vectors.map((vector) => {
    // Other arrays would let strings and null count as numbers.
    if (!(vector instanceof Float32Array) || vector.length !== embedder.dimensions) {
      throw unusable();
    }
    const length = lengthOf(vector);
    if (!(length > 0 && length < Infinity)) throw unusable();
    return unit(vector, length);
  });
}

function unusable(): SvcError {
  return new SvcError("embedding_unavailable", "The embedder gave no usable vectors");
}

/**
 * The vectors of texts that are kept, or compared with those that are; in order.
 *
 * @throws {SvcError} `embedding_unavailable`.
 */
export async function documentVectors(
  embedder: Embedder,
  texts: readonly string[],
  signal: AbortSignal | undefined,
): Promise<(readonly Float32Array[])[]> {
  const said = texts.map(firstPerson);
  const made = await embedder.embed(said, { purpose: "document", signal });
  return said.map((_, i) => checkedVectors(embedder, made[i]));
}
