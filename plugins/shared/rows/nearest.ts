import type { IndexEntry, VectorMatch, VectorQuery } from "../../../src/interfaces/mod.ts";
import type { Segment } from "./segment.ts";

/** A memory that may be among the nearest. */
export interface Candidate {
  readonly id: string;
  readonly similarity: number;
  readonly index: number;
  /** Absent while its segment is being looked through. */
  entry?: IndexEntry;
}

/** The memories nearest to a query, out of those found before and a segment, best first. */
export function nearestWith(
  found: readonly Candidate[],
  segment: Segment,
  { vector, limit }: VectorQuery,
): readonly Candidate[] {
  const least = found.length < limit ? -Infinity : found.at(-1)?.similarity ?? Infinity;
  const own: Candidate[] = [];
  for (let index = 0; index < segment.size; index++) {
    const similarity = segment.similarity(index, vector);
    if (similarity === -Infinity || similarity < least) continue;
    own.push({ id: segment.id(index), similarity, index });
  }
  if (own.length === 0) return found;
  // A memory that was replaced during the scan is met twice; the later copy is the newer one.
  const ids = new Set(own.map(({ id }) => id));
  const best = [...found.filter(({ id }) => !ids.has(id)), ...own]
    // Equal ones by id, so that answers do not depend on how memories are packed.
    .sort((a, b) => b.similarity - a.similarity || (a.id < b.id ? -1 : 1))
    .slice(0, limit);
  // The segment's bytes are not needed afterwards.
  for (const candidate of best) candidate.entry ??= segment.copy(candidate.index);
  return best;
}

/** What a search answers of a candidate that stayed. */
export function matchOf({ entry, similarity }: Candidate): VectorMatch {
  // Rounding can leave the range by a hair.
  return { entry: entry!, distance: Math.min(2, Math.max(0, 1 - similarity)) };
}
