import type { KernelName } from "./engine/matrix_product.ts";
import type { Excerpts } from "./engine/windows.ts";

/** Texts to embed together. */
export interface Job {
  /** Unique to one worker. */
  readonly id: number;
  /** Queries overtake documents. */
  readonly purpose: "document" | "query";
  /** What to embed. */
  readonly texts: readonly Excerpts[];
}

/** Vectors of a job's windows. */
export interface JobResult {
  /** Number of windows of each text. */
  readonly counts: readonly number[];
  /** How well the vocabulary knows each text's words; see `Tokenizer.known`. */
  readonly known: readonly number[];
  /** All vectors, one after the other. */
  readonly vectors: Float32Array<ArrayBuffer>;
}

/** To the worker; `load` comes once, first. */
export type Request =
  | {
    readonly type: "load";
    readonly folder: string;
    readonly kernel: KernelName | undefined;
    readonly plain: boolean | undefined;
  }
  | { readonly type: "embed"; readonly job: Job }
  | { readonly type: "drop"; readonly id: number };

/** From the worker; a failure without an id means that the model could not be loaded. */
export type Response =
  | { readonly type: "embedded"; readonly id: number; readonly result: JobResult }
  | { readonly type: "failed"; readonly id?: number; readonly reason: string };
