import { SvcError } from "../errors.ts";
import type { Embedder } from "../interfaces/mod.ts";
import { firstPerson } from "./first_person.ts";

/** Most windows of one text. */
const MAX_WINDOWS = 16;

/**
 * The vectors of one text, checked: what an embedder made up must never reach the index.
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
  return vectors;
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
