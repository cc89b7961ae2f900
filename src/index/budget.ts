import type { ScopeCount } from "../interfaces/mod.ts";

const MIB = 1024 * 1024;
/** What an index of any size costs: compiled code, and buffers of pages being read. */
const FIXED = 40 * MIB;
/** Bytes of the process for each byte of vectors, words and records; measured with full indexes. */
const OVERHEAD = 1.35;
/** About how much RAM a memory takes beside its vector, payload and words, bytes. */
const MEMORY_BYTES = 1536;
/** Bytes of a record for each of its vectors, about, and most of both that are kept in RAM. */
const WINDOW_BYTES = 768;
const MOST_KEPT = { windows: 16, bytes: 16_384 };
/** RAM of one number of a vector, bytes: 4 for the float, 1 for its rounding. */
const NUMBER_BYTES = 5;

/**
 * How many bytes of vectors, words and records fit, so that the process grows by no more than a
 * budget: an allocator keeps pages, and a collector comes late.
 *
 * @param budget Bytes the process may grow by.
 */
export function indexBytes(budget: number): number {
  return Math.floor(Math.max(budget / 3, (budget - FIXED) / OVERHEAD));
}

/**
 * RAM of a loaded scope, by what a store tells of it, bytes.
 *
 * @param dimensions Length of its vectors.
 */
export function estimatedBytes(
  { count, bytes }: Pick<ScopeCount, "count" | "bytes">,
  dimensions: number,
): number {
  const average = bytes / Math.max(1, count);
  const windows = Math.min(Math.max(average / WINDOW_BYTES, 1), MOST_KEPT.windows);
  // The record and its words.
  const kept = 2 * Math.min(average, MOST_KEPT.bytes);
  return count * (MEMORY_BYTES + kept + windows * NUMBER_BYTES * dimensions);
}
