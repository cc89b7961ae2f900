import type { Manifest } from "./models/description.ts";

/** What the worker computes with; comes once, first. */
export interface LoadRequest {
  /** Path of the model's folder. */
  readonly folder: string;
  readonly manifest: Manifest;
  /** Length to which vectors are cut. */
  readonly dimensions: number;
  /** Longest window of a text in tokens, without prefix and what the tokenizer adds. */
  readonly window: number;
  /** Longest input in tokens; what is beyond is cut off. */
  readonly tokens: number;
}

/** Texts to embed, prefixes and all. */
export interface Job {
  /** Unique to one worker. */
  readonly id: number;
  /** Queries overtake documents. */
  readonly purpose: "document" | "query";
  readonly texts: readonly string[];
}

export type Request = LoadRequest | Job | { readonly drop: number };

/** Why a job failed. */
interface Failed {
  readonly reason: string;
  /** Whether the model cannot be used as it is: the reason then says why, and is safe to show. */
  readonly isBroken: boolean;
}

/** What became of a job. */
export type Response =
  & { readonly id: number }
  & ({ readonly vectors: readonly Float32Array<ArrayBuffer>[] } | Failed);

/** Texts whose tokens are wanted. */
export type TokensRequest =
  | { readonly id: number; readonly texts: readonly string[] }
  | { readonly drop: number };

/** The tokens of texts, and the one that fills up shorter ones. */
export type TokensResponse =
  & { readonly id: number }
  & ({ readonly tokens: readonly (readonly number[])[]; readonly padding: number } | Failed);
