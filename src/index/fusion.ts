import type { LexicalScores } from "./lexical_index.ts";

/** Weights of the legs; chosen on the development queries of tests/testdata/retrieval. */
export const WEIGHTS = {
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
 * Fused score of a slot at a cosine distance, larger is better: cosine + weighted BM25 + weighted
 * letter runs.
 *
 * @param lexical Scores by slot.
 * @param known Share of the query that the embedder knows, 0 to 1.
 */
export function fusedScore(
  lexical: LexicalScores,
  known: number,
): (slot: number, distance: number) => number {
  const weight = WEIGHTS.cosine * (UNKNOWN_COSINE + (1 - UNKNOWN_COSINE) * known);
  const { words, runs, fullMatch } = lexical;
  const perMatch = fullMatch > 0 ? 1 / fullMatch : 0;
  return (slot, distance) => {
    const score = words[slot]!;
    return weight * (1 - distance) + WEIGHTS.words * score * Math.min(1, score * perMatch) +
      WEIGHTS.runs * runs[slot]!;
  };
}

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
