import type { IndexedMemory, SearchOptions } from "./loaded_scope.ts";
import { nearest } from "./nearest.ts";
import type { ScopeVectors } from "./scope_vectors.ts";

/** Scopes up to this size are compared by their floats alone: reading twice costs more there. */
const FLOATS_ONLY = 800;

/** A memory that was found. */
export interface Found {
  /** Position of the memory. */
  readonly slot: number;
  /** Cosine distance. */
  readonly distance: number;
  /** What it was ordered by, smaller is better. */
  readonly cost: number;
}

/** Shared by all scopes, since a query is answered in one go. */
let shared = new Float32Array(1024);

function costsOf(
  distances: Float32Array,
  size: number,
  costOf: (slot: number, distance: number) => number,
): Float32Array {
  if (shared.length < size) shared = new Float32Array(2 * size);
  for (let slot = 0; slot < size; slot++) shared[slot] = costOf(slot, distances[slot]!);
  return shared;
}

/**
 * The memories of least cost, exactly. Larger scopes are first compared by the rounded bytes of
 * their vectors; whatever could still be among the best is then compared by its floats.
 *
 * @param costOf Cost of a slot at a distance; when the distance changes by x, by x at most. The
 * distance itself when absent.
 * @throws {SvcError} `dimension_mismatch`, `invalid_vector`.
 */
export function bestMemories(
  entries: readonly IndexedMemory[],
  vectors: ScopeVectors,
  vector: Float32Array,
  costOf: ((slot: number, distance: number) => number) | undefined,
  options: SearchOptions,
): Found[] {
  const { limit, maxDistance = Infinity } = options;
  const size = entries.length;
  const exact = size <= FLOATS_ONLY || limit * 8 > size;
  const { distances, bound } = exact
    ? { distances: vectors.distances(vector), bound: 0 }
    : vectors.roundedDistances(vector);
  const costs = costOf === undefined ? distances : costsOf(distances, size, costOf);
  const accepted = (entry: IndexedMemory): boolean => options.accept?.(entry) ?? true;
  // With rounding, only those that are near enough in any case.
  const first = nearest(entries, costs, limit, (entry, _, slot) => {
    return distances[slot]! + bound <= maxDistance && accepted(entry);
  });
  if (exact) {
    return Array.from(first, (slot) => ({
      slot,
      distance: distances[slot]!,
      cost: costs[slot]!,
    }));
  }
  const exactCost = (slot: number): number => {
    const distance = vectors.distance(slot);
    return costOf?.(slot, distance) ?? distance;
  };
  // So many are not dearer than this: whatever is cannot be among the best.
  const last = first.length < limit ? Infinity : Math.max(...Array.from(first, exactCost));
  const slots: number[] = [];
  for (let slot = 0; slot < size; slot++) {
    const isCandidate = costs[slot]! <= last + bound && distances[slot]! - bound <= maxDistance;
    if (isCandidate && accepted(entries[slot]!)) slots.push(slot);
  }
  const exactDistances = Float32Array.from(slots, (slot) => vectors.distance(slot));
  const exactCosts = costOf === undefined
    ? exactDistances
    : Float32Array.from(slots, (slot, i) => costOf(slot, exactDistances[i]!));
  const candidates = slots.map((slot) => entries[slot]!);
  const found = nearest(candidates, exactCosts, limit, (_, __, i) => {
    return exactDistances[i]! <= maxDistance;
  });
  return Array.from(found, (i) => ({
    slot: slots[i]!,
    distance: exactDistances[i]!,
    cost: exactCosts[i]!,
  }));
}
