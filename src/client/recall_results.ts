import type { Metadata } from "./requests.ts";

// Answers of recall, ask and embed (docs/protocol.md#10.6 and #10.7).

/** A memory found by vector: identifiers and distances only. */
export interface ManualHit {
  /** Id of the blob; empty until it is stored. */
  readonly blob_id: string;
  /** Cosine distance, 0 to 2. */
  readonly distance: number;
  /** Order of the hits, highest first. */
  readonly score: number;
  /** Id of the memory. */
  readonly memory_id: string;
  /** Bucket. */
  readonly namespace: string;
  /** When it was accepted. */
  readonly created_at: string;
  /** 0 to 1. */
  readonly importance?: number;
}

/** A memory found by a recall. */
export interface Hit extends ManualHit {
  /** The memory. */
  readonly text: string;
  /** When the fact happened. */
  readonly occurred_at?: string;
  /** Data of the caller. */
  readonly metadata?: Metadata;
}

/** Answer of a recall by vector. */
export interface ManualRecalled {
  /** Best first. */
  readonly results: readonly ManualHit[];
  /** Number of hits. */
  readonly total: number;
}

/** Answer of a recall. */
export interface Recalled {
  /** Best first. */
  readonly results: readonly Hit[];
  /** Number of hits. */
  readonly total: number;
  /** Hits that could not be decrypted. */
  readonly dropped_count?: number;
  /** Own memories that were not recallable in time. */
  readonly pending?: number;
  /** Said when nothing was found. */
  readonly message?: string;
}

/** Answer of ask. */
export interface Answered {
  /** The answer. */
  readonly answer: string;
  /** Number of memories the answer rests on. */
  readonly memories_used: number;
  /** Those memories. */
  readonly memories: readonly Hit[];
  /** How the answer was made. */
  readonly answer_mode?: "llm" | "quotes";
  /** Own memories that were not recallable in time. */
  readonly pending?: number;
  /** Hits that could not be decrypted. */
  readonly dropped_count?: number;
}

/** Answer of embed. */
export interface Embedded {
  /** The embedding. */
  readonly vector: readonly number[];
  /** Its length. */
  readonly dimensions: number;
  /** Name of the model. */
  readonly model: string;
}
