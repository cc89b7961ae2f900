/** Options of every call. */
export interface CallControl {
  /** Ends the call; it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of a call that writes. */
export interface WriteControl extends CallControl {
  /**
   * 1 to 128 visible ASCII characters; a random one is made when absent, so that a broken
   * connection can be retried without writing twice.
   */
  readonly idempotencyKey?: string | undefined;
}

/** Flat data of the caller, at most 4 KiB as JSON. */
export type Metadata = Readonly<Record<string, string | number | boolean | null>>;

/** What may be said about a memory besides its text. */
export interface MemoryFields {
  /** Data of the caller. */
  readonly metadata?: Metadata;
  /** 0 to 1, default 0.5. */
  readonly importance?: number;
  /** When the fact happened, RFC 3339. */
  readonly occurred_at?: string;
  /** When the memory ends, RFC 3339, in the future. */
  readonly expires_at?: string;
}

/** Fields of a remember. */
export interface RememberFields extends MemoryFields {
  /** Bucket, default `default`. */
  readonly namespace?: string | undefined;
}

/** One item of a bulk remember. */
export interface RememberItem extends RememberFields {
  /** 1 byte to 1 MiB of UTF-8. */
  readonly text: string;
}

/** A payload the client encrypted itself; one of the first two members is needed. */
export interface ManualItem extends RememberFields {
  /** Ciphertext, base64. */
  readonly encrypted_data?: string;
  /** Id of a blob that is stored already. */
  readonly blob_id?: string;
  /** Embedding of the text, of the relayer's dimension. */
  readonly vector: readonly number[];
}

/** A replacement of a memory; omitted members keep their value. */
export interface MemoryUpdate extends MemoryFields {
  /** 1 byte to 1 MiB of UTF-8. */
  readonly text: string;
  /** Refuses the update when the memory has another version. */
  readonly expected_version?: number;
}

/** Weights of the score. */
export interface ScoringWeights {
  /** Weight of relevance, 0 to 100. */
  readonly semantic?: number;
  /** Weight of recency, 0 to 100. */
  readonly recency?: number;
  /** Age at which recency is a half, in days. */
  readonly recency_half_life_days?: number;
  /** Weight of importance, 0 to 100. */
  readonly importance?: number;
}

/** Fields of a recall by vector. */
export interface RecallManualFields {
  /** Most hits, default 10. */
  readonly limit?: number | undefined;
  /** Bucket, default `default`. */
  readonly namespace?: string | undefined;
  /** Keeps hits with a smaller cosine distance. */
  readonly max_distance?: number;
  /** Weights of the score. */
  readonly scoring_weights?: ScoringWeights;
}

/** Fields of a recall and an ask. */
export interface RecallFields extends RecallManualFields {
  /** How memories are matched, default `hybrid`. */
  readonly mode?: "hybrid" | "semantic" | "keyword";
  /** Keeps hits with at least this score. */
  readonly min_score?: number;
  /** Earliest time, RFC 3339, included. */
  readonly occurred_after?: string;
  /** Latest time, RFC 3339, excluded. */
  readonly occurred_before?: string;
}

/** Which memories a page shows. */
export interface MemoryQuery {
  /** Bucket, default `default`. */
  readonly namespace?: string | undefined;
  /** Memories of a page, 1 to 200, default 50. */
  readonly limit?: number | undefined;
  /** `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
  /** Default `newest`. */
  readonly order?: "newest" | "oldest";
  /** `false` leaves the texts out. */
  readonly text?: boolean;
}

/** Which namespaces a page shows. */
export interface NamespaceQuery {
  /** Namespaces of a page, at most 1000, the default. */
  readonly limit?: number | undefined;
  /** `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

/** How long to wait for a job. */
export interface WaitControl extends CallControl {
  /** `recallable` (the default) comes before the blob is stored, `done` after. */
  readonly until?: "recallable" | "done";
  /** Longest wait in milliseconds, default 60,000. */
  readonly timeoutMs?: number;
}
