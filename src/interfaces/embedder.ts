import type { BackendHealth, CallOptions } from "./common.ts";

/** Options of {@linkcode Embedder.embed}. */
export interface EmbedOptions extends CallOptions {
  /** `query` overtakes waiting `document` texts and always has one window. */
  readonly purpose: "document" | "query";
}

/** What an embedder makes of a query. */
export interface QueryEmbedding {
  /** Unit length. */
  readonly vector: Float32Array;
  /**
   * How well the model knows the query's words, 0 to 1: 0 where they are of another language or in
   * another script. Recall leans on words and letters as far as it is low.
   */
  readonly known: number;
}

/**
 * Maps of an embedder's vectors to shorter ones, of which the product is large where a statement tells
 * what another one tells, or what is asked, whatever its value: of "I live in Berlin" and "I moved to
 * Lisbon". Learned for one model.
 */
export interface Aspects {
  /** What a document tells about. */
  statement(vector: Float32Array): Float32Array;
  /** What a query asks about. */
  question(vector: Float32Array): Float32Array;
}

/**
 * Text to vectors. Verify an implementation with `embedderSuite` of `@svc/relayer/testing`.
 */
export interface Embedder extends AsyncDisposable {
  /** Name of the model, its version and quantisation; stored with every vector. */
  readonly model: string;
  /** Length of every vector. */
  readonly dimensions: number;
  /** Longest window in tokens of the model. */
  readonly maxTokens: number;
  /**
   * Cosine of query and memory from which the memory may answer the query, measured for this
   * model; the confidence of hits starts from there. Absent when nobody measured it: then hits have
   * none.
   */
  readonly closeness?: number;
  /**
   * Languages that the model reads, as codes of ISO 639; absent for one that reads all. Queries in
   * others are answered by words and letters.
   */
  readonly languages?: readonly string[];
  /** By which recall tells what replaced something; absent where nobody fitted them. */
  readonly aspects?: Aspects | undefined;
  /**
   * Embeds texts, in order. A text longer than the model's window gets up to 16 window vectors
   * (longer texts are sampled evenly). Vectors have unit length and finite numbers.
   */
  embed(texts: readonly string[], options: EmbedOptions): Promise<Float32Array[][]>;
  /** What the last calls say about its server; absent where there is none. */
  health?(): BackendHealth;
  /**
   * As `embed` of one text with the purpose `query`, for models that can tell when a text is none
   * of theirs. Without it every query counts as known.
   */
  embedQuery?(text: string, options?: CallOptions): Promise<QueryEmbedding>;
}
