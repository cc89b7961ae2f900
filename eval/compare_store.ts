import { FusedCosts } from "../src/index/ranking.ts";
import { LexicalIndex, type LexicalScores } from "../src/index/words/lexical_index.ts";
import type { Embedder } from "../src/interfaces/mod.ts";
import type { QueryVectors } from "../src/memory/recall/query_vectors.ts";
import { documentVectors } from "../src/memory/vectors.ts";
import type { FactStore } from "./query_set.ts";

/** One query compared with every fact of its store, as recall does it. */
export interface Comparison {
  /** The query. */
  readonly query: string;
  /** Position of the fact that answers it. */
  readonly answer: number;
  /** Vector of the query. */
  readonly vector: Float32Array;
  /** Vectors of the facts' windows. */
  readonly documents: readonly (readonly Float32Array[])[];
  /** Cosine distance by fact. */
  readonly distances: Float32Array;
  /** Scores of words and letter runs by fact. */
  readonly lexical: LexicalScores;
  /** Score of all legs by fact. */
  readonly fused: Float32Array;
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * b[i]!, 0);
}

/** Compares every query of a store with every fact of it. */
export async function* comparisons(
  embedder: Embedder,
  queries: QueryVectors,
  { facts }: FactStore,
): AsyncGenerator<Comparison> {
  const texts = new LexicalIndex();
  facts.forEach(({ fact }, slot) => {
    texts.add();
    texts.set(slot, fact);
  });
  const documents = await documentVectors(embedder, facts.map(({ fact }) => fact), undefined);
  for (const [answer, fact] of facts.entries()) {
    for (const query of fact.queries) {
      const { vector, known, unread } = await queries.get(query);
      const distances = Float32Array.from(
        documents,
        (windows) => 1 - Math.max(...windows.map((window) => dot(window, vector))),
      );
      const lexical = texts.score(query);
      const costs = new FusedCosts(lexical, known, unread);
      const fused = distances.map((distance, slot) => -costs.of(slot, distance));
      yield { query, answer, vector, documents, distances, lexical, fused };
    }
  }
}
