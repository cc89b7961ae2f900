import type { KernelName } from "./engine/matrix_product.ts";
import type { Excerpts } from "./engine/windows.ts";

export interface Job {
  /** Unique to one worker. */
  readonly id: number;
  /** Queries overtake documents. */
  readonly purpose: "document" | "query";
  readonly texts: readonly Excerpts[];
}

export interface JobResult {
  /** Number of windows of each text. */
  readonly counts: readonly number[];
  /** How well the vocabulary knows each text's words; see `Tokenizer.known`. */
  readonly known: readonly number[];
  /** All vectors, one after the other. */
  readonly vectors: Float32Array<ArrayBuffer>;
}

/** Where the weights are, and how to compute with them; comes once, first. */
export interface LoadRequest {
  readonly folder: string;
  readonly kernel: KernelName | undefined;
  readonly plain: boolean | undefined;
}

export type Request = LoadRequest | Job | { readonly drop: number };

/** What became of a job. */
export type Response = { readonly id: number } & (JobResult | { readonly reason: string });
