/** What is known of a family of embedding models. */
export interface EmbeddingTraits {
  /** Put before a document. */
  readonly document: string;
  /** Put before a query. */
  readonly query: string;
  /** Longest input in tokens. */
  readonly contextTokens: number;
}

const RETRIEVAL = "Represent this sentence for searching relevant passages: ";

/**
 * Prefixes that models were trained with, from their model cards; the first pattern that fits the
 * name counts. Without them these models embed questions far from their answers. Another prefix of
 * documents makes other vectors: whoever changes one must change the name the model is stored under.
 */
const FAMILIES: readonly (readonly [RegExp, Partial<EmbeddingTraits>])[] = [
  [/nomic-embed-text/, {
    document: "search_document: ",
    query: "search_query: ",
    contextTokens: 2048,
  }],
  [/embeddinggemma/, {
    document: "title: none | text: ",
    query: "task: search result | query: ",
    contextTokens: 2048,
  }],
  [/e5-.*instruct/, { query: "Instruct: Find memories that answer the question\nQuery: " }],
  [/(^|[^a-z])(multilingual-)?e5-/, { document: "passage: ", query: "query: " }],
  [/qwen3-embedding/, {
    query: "Instruct: Find memories that answer the question\nQuery:",
    contextTokens: 8192,
  }],
  [/snowflake-arctic-embed-?(l-v)?2/, { query: "query: ", contextTokens: 8192 }],
  [/snowflake-arctic-embed|mxbai-embed|bge-(small|base|large)-en/, { query: RETRIEVAL }],
  [/bge-m3|text-embedding-(3|ada)/, { contextTokens: 8191 }],
  [/all-minilm/, { contextTokens: 256 }],
];

/** What is known of an embedding model by its name; 512 tokens and no prefix where nothing is. */
export function embeddingTraits(model: string): EmbeddingTraits {
  const name = model.toLowerCase();
  const known = FAMILIES.find(([pattern]) => pattern.test(name))?.[1];
  return { document: "", query: "", contextTokens: 512, ...known };
}
