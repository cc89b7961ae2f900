import type { BackendHealth, CallOptions } from "./common.ts";

/** Options of {@linkcode Embedder.embed}. */
export interface EmbedOptions extends CallOptions {
  /** `query` overtakes waiting `document` texts and always has one window. */
  readonly purpose: "document" | "query";
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
   * model; absent when nobody measured it.
   */
  readonly closeness?: number;
  /**
   * Embeds texts, in order. A text longer than the model's window gets up to 16 window vectors
   * (longer texts are sampled evenly). Vectors have unit length and finite numbers.
   */
  embed(texts: readonly string[], options: EmbedOptions): Promise<Float32Array[][]>;
  /** What the last calls say about its server; absent where there is none. */
  health?(): BackendHealth;
}
