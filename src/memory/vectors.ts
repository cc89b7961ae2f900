import { SvcError } from "../errors.ts";
import type { Embedder } from "../interfaces/mod.ts";
import { firstPerson } from "./first_person.ts";

/** Most windows of one text. */
const MAX_WINDOWS = 16;

/** How far a vector's length may be from 1 before it is scaled. */
const ROUNDING = 1e-4;

/** The vector at unit length, which is what distances are computed from. */
function unit(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const length = Math.sqrt(squares);
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
  const usable = vectors !== undefined && vectors.length >= 1 && vectors.length <= MAX_WINDOWS &&
    vectors.every((vector) =>
      vector.length === embedder.dimensions && vector.every(Number.isFinite) &&
      vector.some((value) => value !== 0)
    );
  if (!usable) throw new SvcError("embedding_unavailable", "The embedder gave no usable vectors");
  return vectors.map(unit);
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
