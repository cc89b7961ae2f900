/** The value below which a share of the values lies, by nearest rank. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const rank = Math.max(0, Math.ceil(share * sorted.length) - 1);
  return sorted[rank] ?? NaN;
}

/** The middle value. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Deterministic numbers in [0, 1) (mulberry32), so that runs compare. */
export function uniform(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The items in an order drawn from `random`. */
export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const order = items.map((item) => ({ item, at: random() }));
  return order.sort((a, b) => a.at - b.at).map(({ item }) => item);
}

/** A vector of length 1 in a random direction. */
export function unitVector(dimensions: number, random: () => number): Float32Array {
  const vector = Float32Array.from({ length: dimensions }, () => random() + random() - 1);
  const length = Math.hypot(...vector);
  return vector.map((x) => x / length);
}
