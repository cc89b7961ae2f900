/** Pairs of memories, each as two ids in their order. */
export type Pairs = ReadonlySet<string>;

/** Each two of some memories. */
export function pairsOf(ids: readonly string[]): string[] {
  const sorted = [...ids].sort();
  return sorted.flatMap((one, i) => sorted.slice(i + 1).map((other) => `${one} ${other}`));
}

/** Whether each two of some memories are among the pairs that are to stay. */
export function keepsAll(kept: Pairs, ids: readonly string[]): boolean {
  return pairsOf(ids).every((pair) => kept.has(pair));
}
