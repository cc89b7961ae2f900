import type { IndexEntry } from "../interfaces/mod.ts";
import type { ScopeVectors } from "./vectors/scope_vectors.ts";
import type { LexicalScores } from "./words/lexical_index.ts";

/** A memory of the index without its vectors. */
export type IndexedMemory = Omit<IndexEntry, "vectors">;

/** What the neighbours of a memory add to its place, as shares of what they score themselves. */
export interface ContextWeights {
  /** Of the question that it follows. */
  readonly question: number;
  /** Of the best other memory of its session. */
  readonly session: number;
  /** Of its own, which a question loses that something follows: what answers it is there. */
  readonly asking: number;
  /**
   * Of the BM25 of its words, where the namespace is made of conversations: people say "it" and "that"
   * there, so that a word which is shared tells more than among facts.
   */
  readonly words: number;
}

export interface SearchOptions {
  readonly limit: number;
  /** Memories it refuses (expired ones, for example) are left out and do not count. */
  accept?(entry: IndexedMemory): boolean;
  /** Memories as far away, or farther, are left out. */
  readonly maxDistance?: number;
  /** Memories that score less are left out. */
  readonly minScore?: number | undefined;
  /**
   * Whether what stands beside memories counts for their order, or with which weights; only in a search
   * by both legs.
   */
  readonly inContext?: boolean | ContextWeights;
}

/** A search of a scope: by its vector, by its text, or by both. */
export interface ScopeQuery {
  /** Embedding of the query, of any length but zero; absent in a search by words alone. */
  readonly vector?: Float32Array;
  /** The query; absent in a search by meaning alone. */
  readonly text?: string;
  /** Share of the query that the embedder knows, 0 to 1; 1 when absent. Weighs the vector. */
  readonly known?: number;
  /** Whether it is in a language that the embedder does not read: then words and letters lead. */
  readonly unread?: boolean;
}

/** A memory and how well it answers a query. */
export interface Match {
  readonly entry: IndexedMemory;
  /** Cosine distance of the closest window: 0 (same direction) to 2 (opposite). */
  readonly distance: number;
  /** Larger is better; not bounded when both legs are used, else 0 to 1. */
  readonly score: number;
  /** What its neighbours say for it: to be added to the score where it is ordered. */
  readonly evidence?: number;
  /** Share of the query's words, by what they tell, that its text has, 0 to 1; 0 without words. */
  readonly coverage: number;
  /** How many memories it was compared with, itself included. */
  readonly among: number;
  /** Its vector; only the best matches in context have it, and those of one window. */
  readonly vector?: Float32Array;
}

/**
 * Positions of the nearest items, nearest first; of equally near ones the newer first, then by id.
 *
 * @param items What is ranked.
 * @param distances Distance of every item.
 * @param limit Most positions to answer.
 * @param accept Items it refuses do not count; asked only about items that would be answered.
 * @param most Items as far away, or farther, are equally far.
 */
export function nearest<T extends Pick<IndexEntry, "id" | "createdAt">>(
  items: readonly T[],
  distances: Float32Array,
  limit: number,
  accept: (item: T, distance: number, position: number) => boolean,
  most = Infinity,
): Int32Array {
  const size = Math.min(Math.max(0, Math.floor(limit)), items.length);
  const best = new Int32Array(size);
  if (size === 0) return best;
  const before = (a: number, b: number): boolean => {
    const gap = Math.min(distances[a]!, most) - Math.min(distances[b]!, most);
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
    if (worst >= most) worst = Infinity;
  }
  return best.subarray(0, count);
}

/** Shared by all scopes: a query is answered without a wait, and reads this only until then. */
let shared = new Float32Array(1024);

/** One call for all slots: a call for each of thousands takes nearly twice as long. */
function costsOf(
  distances: Float32Array,
  size: number,
  costs: FusedCosts | undefined,
): Float32Array {
  if (costs === undefined) return distances;
  if (shared.length < size) shared = new Float32Array(2 * size);
  costs.write(distances, size, shared);
  return shared;
}

/** What is farther than a right angle is equally far where only the distance counts. */
const RIGHT_ANGLE = 1;

/**
 * The memories of least cost, exactly; their score is minus the cost, or what the distance lacks of a
 * right angle. Larger scopes are first compared by the rounded bytes of
 * their vectors; whatever could still be among the best is then compared by its floats.
 *
 * @param order Costs; the distance when absent.
 * @throws {SvcError} `dimension_mismatch`, `invalid_vector`.
 */
export function bestMemories(
  entries: readonly IndexedMemory[],
  vectors: ScopeVectors,
  vector: Float32Array,
  order: FusedCosts | undefined,
  options: SearchOptions,
): Match[] {
  const { limit, maxDistance = Infinity } = options;
  const size = entries.length;
  const exact = !vectors.isRounded || limit * 8 > size;
  const { distances, bound } = exact
    ? { distances: vectors.distances(vector), bound: 0 }
    : vectors.roundedDistances(vector);
  const costs = costsOf(distances, size, order);
  const most = order === undefined ? RIGHT_ANGLE : Infinity;
  const accepted = (entry: IndexedMemory): boolean => options.accept?.(entry) ?? true;
  // Only memories that are near enough however far their rounded distance is off.
  const first = nearest(entries, costs, limit, (entry, _, slot) => {
    return distances[slot]! + bound < maxDistance && accepted(entry);
  }, most);
  const matchOf = (slot: number, distance: number, cost: number): Match => ({
    entry: entries[slot]!,
    distance,
    score: order === undefined ? Math.max(0, RIGHT_ANGLE - distance) : -cost,
    coverage: order?.coverage(slot) ?? 0,
    among: size,
  });
  if (exact) return Array.from(first, (slot) => matchOf(slot, distances[slot]!, costs[slot]!));
  // `limit` memories cost at most this much: what costs more cannot be among the best.
  let last = -Infinity;
  for (const slot of first) {
    const distance = vectors.distance(slot);
    last = Math.max(last, order?.of(slot, distance) ?? distance);
  }
  if (first.length < limit || last >= most) last = Infinity;
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
    exactCosts[i] = order?.of(slots[i]!, exactDistances[i]!) ?? exactDistances[i]!;
  }
  const found = nearest(candidates, exactCosts, limit, (_, __, i) => {
    return exactDistances[i]! < maxDistance;
  }, most);
  return Array.from(found, (at) => matchOf(slots[at]!, exactDistances[at]!, exactCosts[at]!));
}

/** How well one memory answers the query that was compared last. */
export function matchAt(
  entries: readonly IndexedMemory[],
  vectors: ScopeVectors,
  order: FusedCosts,
  slot: number,
): Match {
  const distance = vectors.distance(slot);
  return {
    entry: entries[slot]!,
    distance,
    score: -order.of(slot, distance),
    coverage: order.coverage(slot),
    among: entries.length,
  };
}

/** Weights of the legs; chosen on the development queries of the retrieval data. */
const WEIGHTS = {
  /** Weight of the cosine, times the share of the query's words that the embedder knows. */
  cosine: 1,
  /**
   * Of the raw BM25 (divided by the best of the scope, a stray match would count in full), times the
   * share of the query's words that the text has.
   */
  words: 0.04,
  /** Weight of the cosine of the letter runs. */
  runs: 0.15,
  /** The same for a query in a language that the embedder does not read. */
  unreadRuns: 0.3,
} as const;

/** Share of the cosine's weight that is left for a query of which the embedder knows no word. */
const UNKNOWN_COSINE = 0.1;

/** Share of the words in a keyword search's relevance; the letter runs have the rest. */
const KEYWORD_WORDS = 0.7;
/** A text without any word of the query is found from this cosine of its letter runs on. */
const KEYWORD_RUNS = 0.1;

/**
 * Costs of the fusion, smaller is better: minus the sum of cosine, weighted BM25 and weighted letter
 * runs.
 */
export class FusedCosts {
  readonly #lexical: LexicalScores;
  /** Weight of the cosine. */
  readonly #weight: number;
  /** Weight of the letter runs. */
  readonly #runs: number;
  readonly #perMatch: number;

  /**
   * For one query.
   *
   * @param lexical Scores by slot.
   * @param known Share of the query that the embedder knows, 0 to 1.
   * @param unread Whether the embedder does not read the query's language.
   */
  constructor(lexical: LexicalScores, known: number, unread = false) {
    this.#lexical = lexical;
    this.#weight = WEIGHTS.cosine * (UNKNOWN_COSINE + (1 - UNKNOWN_COSINE) * known);
    this.#runs = unread ? WEIGHTS.unreadRuns : WEIGHTS.runs;
    this.#perMatch = lexical.fullMatch > 0 ? 1 / lexical.fullMatch : 0;
  }

  /** Cost of a slot at a distance; when the distance changes by x, by x at most. */
  of(slot: number, distance: number): number {
    const { words, runs } = this.#lexical;
    return -(this.#weight * (1 - distance) + wordScore(words[slot]!, this.#perMatch) +
      this.#runs * runs[slot]!);
  }

  /** BM25 of a slot's words. */
  words(slot: number): number {
    return this.#lexical.words[slot]!;
  }

  /** Share of the query's words, by what they tell, that the text of a slot has, 0 to 1. */
  coverage(slot: number): number {
    return coverageOf(this.#lexical, slot);
  }

  /** Writes those of the first `size` slots at their distances, rounded to 32 bits. */
  write(distances: Float32Array, size: number, into: Float32Array): void {
    const { words, runs } = this.#lexical;
    const [weight, weightOfRuns, perMatch] = [this.#weight, this.#runs, this.#perMatch];
    for (let slot = 0; slot < size; slot++) {
      into[slot] = -(weight * (1 - distances[slot]!) + wordScore(words[slot]!, perMatch) +
        weightOfRuns * runs[slot]!);
    }
  }
}

/** What the words of a text add to its score. */
function wordScore(words: number, perMatch: number): number {
  return WEIGHTS.words * words * Math.min(1, words * perMatch);
}

/** Share of the query's words, by what they tell, that the text of a slot has, 0 to 1. */
export function coverageOf({ words, fullMatch }: LexicalScores, slot: number): number {
  return fullMatch > 0 ? Math.min(1, words[slot]! / fullMatch) : 0;
}

/**
 * Relevance of every slot to a keyword search, 0 to 1: how much of the query's words, by what they
 * tell, and of its letter runs the text has. 0 where no word and hardly a run is shared.
 */
export function keywordScores(lexical: LexicalScores): Float32Array {
  const { words, runs } = lexical;
  const scores = new Float32Array(words.length);
  for (let slot = 0; slot < words.length; slot++) {
    const isHit = words[slot]! > 0 || runs[slot]! >= KEYWORD_RUNS;
    scores[slot] = isHit
      ? KEYWORD_WORDS * coverageOf(lexical, slot) + (1 - KEYWORD_WORDS) * Math.min(1, runs[slot]!)
      : 0;
  }
  return scores;
}
