import type { IndexedMemory, SearchOptions } from "./loaded_scope.ts";
import { nearest } from "./vectors/nearest.ts";
import type { ScopeVectors } from "./vectors/scope_vectors.ts";

/** A memory that was found. */
interface Found {
  /** Position of the memory. */
  readonly slot: number;
  /** Cosine distance. */
  readonly distance: number;
  /** What it was ordered by, smaller is better. */
  readonly cost: number;
}

/** What memories are ordered by, smaller is better. */
export interface Costs {
  /** Cost of a slot at a distance; when the distance changes by x, by x at most. */
  of(slot: number, distance: number): number;
  /** Writes those of the first `size` slots at their distances, rounded to 32 bits. */
  write(distances: Float32Array, size: number, into: Float32Array): void;
}

/** Of the whole process: a query is answered in one go, and nothing in here outlives it. */
let shared = new Float32Array(1024);

/** In one loop of the costs' own: a call for each of thousands of slots takes nearly twice as long. */
function costsOf(distances: Float32Array, size: number, costs: Costs): Float32Array {
  if (shared.length < size) shared = new Float32Array(2 * size);
  costs.write(distances, size, shared);
  return shared;
}

/**
 * The memories of least cost, exactly. Larger scopes are first compared by the rounded bytes of
 * their vectors; whatever could still be among the best is then compared by its floats.
 *
 * @param order What they are ordered by; the distance when absent.
 * @throws {SvcError} `dimension_mismatch`, `invalid_vector`.
 */
export function bestMemories(
  entries: readonly IndexedMemory[],
  vectors: ScopeVectors,
  vector: Float32Array,
  order: Costs | undefined,
  options: SearchOptions,
): Found[] {
  const { limit, maxDistance = Infinity } = options;
  const size = entries.length;
  const exact = !vectors.isRounded || limit * 8 > size;
  const { distances, bound } = exact
    ? { distances: vectors.distances(vector), bound: 0 }
    : vectors.roundedDistances(vector);
  const costs = order === undefined ? distances : costsOf(distances, size, order);
  const accepted = (entry: IndexedMemory): boolean => options.accept?.(entry) ?? true;
  // With rounding, only those that are near enough in any case.
  const first = nearest(entries, costs, limit, (entry, _, slot) => {
    return distances[slot]! + bound < maxDistance && accepted(entry);
  });
  if (exact) return foundOf(first, distances, costs);
  const exactCost = (slot: number, distance: number): number =>
    order?.of(slot, distance) ?? distance;
  // So many are not dearer than this: whatever is cannot be among the best.
  let last = -Infinity;
  for (const slot of first) last = Math.max(last, exactCost(slot, vectors.distance(slot)));
  if (first.length < limit) last = Infinity;
  const slots: number[] = [];
  const candidates: IndexedMemory[] = [];
  for (let slot = 0; slot < size; slot++) {
    const isCandidate = costs[slot]! <= last + bound && distances[slot]! - bound < maxDistance;
    if (!isCandidate || !accepted(entries[slot]!)) continue;
    slots.push(slot);
    candidates.push(entries[slot]!);
  }
  const exactDistances = new Float32Array(slots.length);
  const exactCosts = new Float32Array(slots.length);
  for (let i = 0; i < slots.length; i++) {
    exactDistances[i] = vectors.distance(slots[i]!);
    exactCosts[i] = exactCost(slots[i]!, exactDistances[i]!);
  }
  const found = nearest(candidates, exactCosts, limit, (_, __, i) => {
    return exactDistances[i]! < maxDistance;
  });
  return foundOf(found, exactDistances, exactCosts, slots);
}

/** What is at these positions, whose slots are the positions where none are given. */
function foundOf(
  positions: Int32Array,
  distances: Float32Array,
  costs: Float32Array,
  slots?: readonly number[],
): Found[] {
  const found: Found[] = [];
  for (let i = 0; i < positions.length; i++) {
    const at = positions[i]!;
    found.push({ slot: slots?.[at] ?? at, distance: distances[at]!, cost: costs[at]! });
  }
  return found;
}
