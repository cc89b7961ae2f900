// Written by `deno task docs` from the table of routes.

/** What the routes in `src/wire/table/recall.ts` take and answer. */
export interface RecallRoutes {
  /** Find memories by meaning and by their words. */
  readonly "POST /api/recall": {
    readonly access: "signed";
    readonly body: {
      readonly query: string;
      readonly limit?: number | undefined;
      /** 1 to 256 bytes; missing or empty means default. */
      readonly namespace?: string | undefined;
      readonly max_distance?: number | undefined;
      readonly scoring_weights?: {
        readonly semantic?: number | undefined;
        readonly recency?: number | undefined;
        readonly recency_half_life_days?: number | undefined;
        readonly importance?: number | undefined;
      } | undefined;
      readonly mode?: "hybrid" | "semantic" | "keyword" | undefined;
      readonly min_score?: number | undefined;
      readonly min_confidence?: number | undefined;
      readonly occurred_after?: string | undefined;
      readonly occurred_before?: string | undefined;
      readonly as_of?: string | undefined;
      readonly include?: "present" | "history" | undefined;
      readonly trust?: readonly ("user" | "agent" | "import" | "web")[] | undefined;
    };
    readonly answers: {
      readonly 200: {
        /** Best first. */
        readonly results: readonly {
          /** Id of the blob; empty until it is stored. */
          readonly blob_id: string;
          /** Cosine distance, 0 to 2. */
          readonly distance: number;
          /** Order of the hits, highest first. */
          readonly score: number;
          /** Id of the memory. */
          readonly memory_id: string;
          /** Namespace. */
          readonly namespace: string;
          /** When it was accepted. */
          readonly created_at: string;
          /** 0 to 1. */
          readonly importance?: number | undefined;
          /** The memory. */
          readonly text: string;
          /** Probability that it answers the query, 0 to 1. */
          readonly confidence?: number | undefined;
          /** When the fact happened. */
          readonly occurred_at?: string | undefined;
          /** Data of the caller. */
          readonly metadata?:
            | { readonly [name: string]: string | number | boolean | null }
            | undefined;
          /** Since when it is true. */
          readonly valid_from?: string | undefined;
          /** Until when it is true. */
          readonly valid_to?: string | undefined;
          /** What it is about. */
          readonly key?: string | undefined;
          /** Session it was said in, as its writer names it. */
          readonly session?: string | undefined;
          /** Its place in the session, from 0. */
          readonly position?: number | undefined;
          /** Who says so; absent where nobody knows. */
          readonly trust?: "user" | "agent" | "import" | "web" | undefined;
          /** Public key that signed for it, 64 hex characters. */
          readonly written_by?: string | undefined;
          /** Label of that key, where the account lists it. */
          readonly written_by_label?: string | undefined;
          /** The memory that took its place. */
          readonly superseded_by?: string | undefined;
          /** Memories whose place it took. */
          readonly supersedes?: readonly string[] | undefined;
          /** Memories that say something else about the same thing. */
          readonly conflicts_with?: readonly string[] | undefined;
          /** The memory that says the same and stands for it. */
          readonly restates?: string | undefined;
          /** Memories that say the same, for which it stands. */
          readonly restated?: number | undefined;
          /** When the last of them was written. */
          readonly restated_at?: string | undefined;
          /** The newest 20 of them. */
          readonly restatements?: readonly string[] | undefined;
          /** How often it was sent again, word for word. */
          readonly copies?: number | undefined;
          /** When it was sent again last. */
          readonly copied_at?: string | undefined;
        }[];
        /** Number of hits. */
        readonly total: number;
        /** Hits were left out: all of them would be more than about 4 MiB. */
        readonly truncated?: boolean | undefined;
        /** Hits that could not be decrypted. */
        readonly dropped_count?: number | undefined;
        /** Own memories that were not recallable in time. */
        readonly pending?: number | undefined;
        /** Said when nothing was found. */
        readonly message?: string | undefined;
      };
    };
  };
  /** Find memories by a vector of the caller's own. */
  readonly "POST /api/recall/manual": {
    readonly access: "signed";
    readonly body: {
      readonly vector: readonly number[];
      readonly limit?: number | undefined;
      /** 1 to 256 bytes; missing or empty means default. */
      readonly namespace?: string | undefined;
      readonly max_distance?: number | undefined;
      readonly scoring_weights?: {
        readonly semantic?: number | undefined;
        readonly recency?: number | undefined;
        readonly recency_half_life_days?: number | undefined;
        readonly importance?: number | undefined;
      } | undefined;
    };
    readonly answers: {
      readonly 200: {
        /** Best first. */
        readonly results: readonly {
          /** Id of the blob; empty until it is stored. */
          readonly blob_id: string;
          /** Cosine distance, 0 to 2. */
          readonly distance: number;
          /** Order of the hits, highest first. */
          readonly score: number;
          /** Id of the memory. */
          readonly memory_id: string;
          /** Namespace. */
          readonly namespace: string;
          /** When it was accepted. */
          readonly created_at: string;
          /** 0 to 1. */
          readonly importance?: number | undefined;
        }[];
        /** Number of hits. */
        readonly total: number;
      };
    };
  };
  /** Embed a text; nothing is stored. */
  readonly "POST /api/embed": {
    readonly access: "signed";
    readonly body: {
      readonly text: string;
    };
    readonly answers: {
      readonly 200: {
        readonly vector: readonly number[];
        /** Length of the vector. */
        readonly dimensions: number;
        /** Name of the model. */
        readonly model: string;
      };
    };
  };
  /** Index memories that are in the blob store only. */
  readonly "POST /api/restore": {
    readonly access: "signed";
    readonly body: {
      readonly namespace: string;
      readonly limit?: number | undefined;
    };
    readonly answers: {
      readonly 200: {
        /** Memories that were added to the index. */
        readonly restored: number;
        /** Blobs whose memory was there, or was deleted. */
        readonly skipped: number;
        /** Blobs that could not be read. */
        readonly failed: number;
        /** Blobs left for another call. */
        readonly remaining: number;
        /** Blobs found: the sum of the other numbers. */
        readonly total: number;
        /** Namespace. */
        readonly namespace: string;
        /** Address of the owner. */
        readonly owner: string;
      };
    };
  };
  /** Extract the facts of a text and store each. */
  readonly "POST /api/analyze": {
    readonly access: "signed";
    readonly body: {
      readonly text: string;
      /** 1 to 256 bytes; missing or empty means default. */
      readonly namespace?: string | undefined;
      readonly occurred_at?: string | undefined;
      readonly valid_from?: string | undefined;
      readonly valid_to?: string | undefined;
      /** Ids of memories whose place it takes, at most 20. */
      readonly supersedes?: readonly string[] | undefined;
      /** What it is about, at most 256 bytes. */
      readonly key?: string | undefined;
      readonly trust?: "user" | "agent" | "import" | "web" | undefined;
      /** Chat or other session it comes from, at most 256 bytes. */
      readonly session?: string | undefined;
    };
    readonly answers: {
      readonly 202: {
        /** One job a fact. */
        readonly job_ids: readonly string[];
        readonly facts: readonly {
          /** The fact. */
          readonly text: string;
          /** Equals `job_id`. */
          readonly id: string;
          /** Id of its job. */
          readonly job_id: string;
          /** Id of its memory. */
          readonly memory_id: string;
        }[];
        /** Number of facts. */
        readonly fact_count: number;
        /** Number of facts. */
        readonly total: number;
        readonly status: "pending";
        /** Address of the owner. */
        readonly owner: string;
        /** How the facts were found. */
        readonly method: "llm" | "rules";
        /** Secrets that were replaced by their kind; absent where there were none. */
        readonly redacted?:
          | readonly {
            /** Kind of the secrets, such as aws_access_key. */
            readonly kind: string;
            /** How many were replaced. */
            readonly count: number;
          }[]
          | undefined;
      };
    };
  };
  /** Answer a question from the memories. */
  readonly "POST /api/ask": {
    readonly access: "signed";
    readonly body: {
      readonly question: string;
      readonly limit?: number | undefined;
      /** 1 to 256 bytes; missing or empty means default. */
      readonly namespace?: string | undefined;
      readonly max_distance?: number | undefined;
      readonly scoring_weights?: {
        readonly semantic?: number | undefined;
        readonly recency?: number | undefined;
        readonly recency_half_life_days?: number | undefined;
        readonly importance?: number | undefined;
      } | undefined;
      readonly mode?: "hybrid" | "semantic" | "keyword" | undefined;
      readonly min_score?: number | undefined;
      readonly min_confidence?: number | undefined;
      readonly occurred_after?: string | undefined;
      readonly occurred_before?: string | undefined;
      readonly as_of?: string | undefined;
      readonly include?: "present" | "history" | undefined;
      readonly trust?: readonly ("user" | "agent" | "import" | "web")[] | undefined;
    };
    readonly answers: {
      readonly 200: {
        /** The answer. */
        readonly answer: string;
        /** Number of memories the answer rests on. */
        readonly memories_used: number;
        /** Those memories. */
        readonly memories: readonly {
          /** Id of the blob; empty until it is stored. */
          readonly blob_id: string;
          /** Cosine distance, 0 to 2. */
          readonly distance: number;
          /** Order of the hits, highest first. */
          readonly score: number;
          /** Id of the memory. */
          readonly memory_id: string;
          /** Namespace. */
          readonly namespace: string;
          /** When it was accepted. */
          readonly created_at: string;
          /** 0 to 1. */
          readonly importance?: number | undefined;
          /** The memory. */
          readonly text: string;
          /** Probability that it answers the query, 0 to 1. */
          readonly confidence?: number | undefined;
          /** When the fact happened. */
          readonly occurred_at?: string | undefined;
          /** Data of the caller. */
          readonly metadata?:
            | { readonly [name: string]: string | number | boolean | null }
            | undefined;
          /** Since when it is true. */
          readonly valid_from?: string | undefined;
          /** Until when it is true. */
          readonly valid_to?: string | undefined;
          /** What it is about. */
          readonly key?: string | undefined;
          /** Session it was said in, as its writer names it. */
          readonly session?: string | undefined;
          /** Its place in the session, from 0. */
          readonly position?: number | undefined;
          /** Who says so; absent where nobody knows. */
          readonly trust?: "user" | "agent" | "import" | "web" | undefined;
          /** Public key that signed for it, 64 hex characters. */
          readonly written_by?: string | undefined;
          /** Label of that key, where the account lists it. */
          readonly written_by_label?: string | undefined;
          /** The memory that took its place. */
          readonly superseded_by?: string | undefined;
          /** Memories whose place it took. */
          readonly supersedes?: readonly string[] | undefined;
          /** Memories that say something else about the same thing. */
          readonly conflicts_with?: readonly string[] | undefined;
          /** The memory that says the same and stands for it. */
          readonly restates?: string | undefined;
          /** Memories that say the same, for which it stands. */
          readonly restated?: number | undefined;
          /** When the last of them was written. */
          readonly restated_at?: string | undefined;
          /** The newest 20 of them. */
          readonly restatements?: readonly string[] | undefined;
          /** How often it was sent again, word for word. */
          readonly copies?: number | undefined;
          /** When it was sent again last. */
          readonly copied_at?: string | undefined;
        }[];
        /** Whether a model composed the answer. */
        readonly answer_mode: "llm" | "quotes";
        /** Hits were left out: all of them would be more than about 4 MiB. */
        readonly truncated?: boolean | undefined;
        /** Hits that could not be decrypted. */
        readonly dropped_count?: number | undefined;
        /** Own memories that were not recallable in time. */
        readonly pending?: number | undefined;
      };
    };
  };
}
