import type { IndexEntry } from "../../interfaces/mod.ts";

/**
 * Positions of the nearest items, nearest first; of equally near ones the newer first, then by id.
 *
 * @param items What is ranked.
 * @param distances Distance of every item.
 * @param limit Most positions to answer.
 * @param accept Items it refuses do not count; asked only about items that would be answered.
 */
export function nearest<T extends Pick<IndexEntry, "id" | "createdAt">>(
  items: readonly T[],
  distances: Float32Array,
  limit: number,
  accept: (item: T, distance: number, position: number) => boolean,
): Int32Array {
  const size = Math.min(Math.max(0, Math.floor(limit)), items.length);
  const best = new Int32Array(size);
  if (size === 0) return best;
  const before = (a: number, b: number): boolean => {
    const gap = distances[a]! - distances[b]!;
    if (gap !== 0) return gap < 0;
    const [x, y] = [items[a]!, items[b]!];
    if (x.createdAt !== y.createdAt) return x.createdAt > y.createdAt;
    return x.id < y.id;
  };
  let count = 0;
  let worst = Infinity;
  for (let i = 0; i < items.length; i++) {
    const distance = distances[i]!;
    // Almost every item ends here once the list is full.
    if (distance > worst) continue;
    if (count === size && !before(i, best[size - 1]!)) continue;
    if (!accept(items[i]!, distance, i)) continue;
    let low = 0;
    for (let high = count; low < high;) {
      const middle = (low + high) >> 1;
      if (before(i, best[middle]!)) high = middle;
      else low = middle + 1;
    }
    // By hand: a call of copyWithin costs more than the few numbers that mostly move.
    for (let at = Math.min(count, size - 1); at > low; at--) best[at] = best[at - 1]!;
    best[low] = i;
    if (count < size) count++;
    if (count === size) worst = distances[best[size - 1]!]!;
  }
  return best.subarray(0, count);
}
