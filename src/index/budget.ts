const MIB = 1024 * 1024;
/** What the process takes for an index of any size: compiled code, buffers of pages on their way. */
const FIXED = 40 * MIB;
/** Bytes of the process for each byte of vectors, words and records; measured with full indexes. */
const OVERHEAD = 1.35;

/**
 * How many bytes of vectors, words and records fit, so that the process grows by no more than a
 * budget: an allocator keeps pages, and a collector comes late.
 *
 * @param budget Bytes the process may grow by.
 */
export function indexBytes(budget: number): number {
  return Math.floor(Math.max(budget / 3, (budget - FIXED) / OVERHEAD));
}
