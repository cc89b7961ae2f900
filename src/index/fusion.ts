import type { Costs } from "./best_memories.ts";
import type { LexicalScores } from "./words/lexical_index.ts";

/** Weights of the legs; chosen on the development queries of the retrieval data. */
const WEIGHTS = {
  /** Of the cosine, as far as the embedder knows the query's words. */
  cosine: 1,
  /**
   * Of the raw BM25 (divided by the best of the scope, a stray match would count in full), times the
   * share of the query's words that the text has.
   */
  words: 0.04,
  /** Of the cosine of the letter runs. */
  runs: 0.15,
} as const;

/** Share of the cosine's weight that is left for a query of which the embedder knows no word. */
const UNKNOWN_COSINE = 0.1;

/** Of a keyword search's relevance; the rest is the letter runs'. */
const KEYWORD_WORDS = 0.7;
/** Texts without a word of the query are found by keyword from this cosine of letter runs on. */
const KEYWORD_RUNS = 0.1;

/**
 * Costs of the fusion, smaller is better: minus the sum of cosine, weighted BM25 and weighted letter
 * runs.
 */
export class FusedCosts implements Costs {
  readonly #lexical: LexicalScores;
  /** Weight of the cosine. */
  readonly #weight: number;
  readonly #perMatch: number;

  /**
   * For one query.
   *
   * @param lexical Scores by slot.
   * @param known Share of the query that the embedder knows, 0 to 1.
   */
  constructor(lexical: LexicalScores, known: number) {
    this.#lexical = lexical;
    this.#weight = WEIGHTS.cosine * (UNKNOWN_COSINE + (1 - UNKNOWN_COSINE) * known);
    this.#perMatch = lexical.fullMatch > 0 ? 1 / lexical.fullMatch : 0;
  }

  of(slot: number, distance: number): number {
    const { words, runs } = this.#lexical;
    return fusedCost(words[slot]!, runs[slot]!, distance, this.#weight, this.#perMatch);
  }

  write(distances: Float32Array, size: number, into: Float32Array): void {
    const { words, runs } = this.#lexical;
    const weight = this.#weight;
    const perMatch = this.#perMatch;
    for (let slot = 0; slot < size; slot++) {
      into[slot] = fusedCost(words[slot]!, runs[slot]!, distances[slot]!, weight, perMatch);
    }
  }
}

function fusedCost(
  words: number,
  runs: number,
  distance: number,
  weight: number,
  perMatch: number,
): number {
  const score = weight * (1 - distance) + WEIGHTS.words * words * Math.min(1, words * perMatch) +
    WEIGHTS.runs * runs;
  return -score;
}

/** Costs where only the vectors count: the distance, at most 1. */
export const VECTOR_COSTS: Costs = {
  of: (_slot, distance) => Math.min(1, distance),
  write(distances, size, into) {
    for (let slot = 0; slot < size; slot++) into[slot] = Math.min(1, distances[slot]!);
  },
};

/**
 * Relevance of every slot to a keyword search, 0 to 1: how much of the query's words, by what they
 * tell, and of its letter runs the text has. 0 where no word and hardly a run is shared.
 */
export function keywordScores(lexical: LexicalScores): Float32Array {
  const { words, runs, fullMatch } = lexical;
  const scores = new Float32Array(words.length);
  for (let slot = 0; slot < words.length; slot++) {
    const isHit = words[slot]! > 0 || runs[slot]! >= KEYWORD_RUNS;
    const match = fullMatch > 0 ? Math.min(1, words[slot]! / fullMatch) : 0;
    scores[slot] = isHit
      ? KEYWORD_WORDS * match + (1 - KEYWORD_WORDS) * Math.min(1, runs[slot]!)
      : 0;
  }
  return scores;
}
