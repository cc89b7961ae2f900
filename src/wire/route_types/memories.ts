// Written by `deno task docs` from the table of routes.

/** What the routes in `src/wire/table/memories.ts` take and answer. */
export interface MemoryRoutes {
  /** List memories of a namespace. */
  readonly "GET /api/memories": {
    readonly access: "signed";
    readonly query: {
      /** 1 to 256 bytes; missing or empty means default. */
      readonly namespace?: string | undefined;
      readonly limit?: number | undefined;
      /** `next_cursor` of the page before. */
      readonly cursor?: string | undefined;
      readonly order?: "newest" | "oldest" | undefined;
      readonly text?: true | false | undefined;
      /** Only memories whose id is, or ends with, this. */
      readonly id?: string | undefined;
      readonly include?: "present" | "history" | undefined;
      readonly as_of?: string | undefined;
    };
    readonly answers: {
      readonly 200: {
        readonly memories: readonly {
          /** Id of the memory. */
          readonly memory_id: string;
          /** Namespace. */
          readonly namespace: string;
          /** The text, unless left out. */
          readonly text?: string | undefined;
          /** Code of the error for which there is no text. */
          readonly text_error?: string | undefined;
          /** Id of the blob; empty until it is stored. */
          readonly blob_id: string;
          /** State of its newest job. */
          readonly status: "pending" | "running" | "uploaded" | "done" | "failed";
          /** Whether a recall finds it. */
          readonly recallable: boolean;
          /** From 1, raised by each replacement. */
          readonly version: number;
          /** 0 to 1. */
          readonly importance: number;
          /** Data of the caller. */
          readonly metadata?:
            | { readonly [name: string]: string | number | boolean | null }
            | undefined;
          /** When the fact happened. */
          readonly occurred_at?: string | undefined;
          /** When it ends. */
          readonly expires_at?: string | undefined;
          /** When it was accepted first. */
          readonly created_at: string;
          /** When it changed last. */
          readonly updated_at: string;
          /** Size of its ciphertext. */
          readonly size_bytes: number;
          readonly source: "remember" | "bulk" | "manual" | "analyze" | "import" | "restore";
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
        /** Number of all memories. */
        readonly total: number;
        /** Where the next page starts; absent on the last. */
        readonly next_cursor?: string | undefined;
        /** Memories that are left out because they are over. */
        readonly history_count?: number | undefined;
      };
    };
  };
  /** One memory with its versions. */
  readonly "GET /api/memories/:id": {
    readonly access: "signed";
    readonly query: {
      /** An earlier version; without it the present one. */
      readonly version?: number | undefined;
    };
    readonly answers: {
      readonly 200: {
        /** Id of the memory. */
        readonly memory_id: string;
        /** Namespace. */
        readonly namespace: string;
        /** The text, unless left out. */
        readonly text?: string | undefined;
        /** Code of the error for which there is no text. */
        readonly text_error?: string | undefined;
        /** Id of the blob; empty until it is stored. */
        readonly blob_id: string;
        /** State of its newest job. */
        readonly status: "pending" | "running" | "uploaded" | "done" | "failed";
        /** Whether a recall finds it. */
        readonly recallable: boolean;
        /** From 1, raised by each replacement. */
        readonly version: number;
        /** 0 to 1. */
        readonly importance: number;
        /** Data of the caller. */
        readonly metadata?:
          | { readonly [name: string]: string | number | boolean | null }
          | undefined;
        /** When the fact happened. */
        readonly occurred_at?: string | undefined;
        /** When it ends. */
        readonly expires_at?: string | undefined;
        /** When it was accepted first. */
        readonly created_at: string;
        /** When it changed last. */
        readonly updated_at: string;
        /** Size of its ciphertext. */
        readonly size_bytes: number;
        readonly source: "remember" | "bulk" | "manual" | "analyze" | "import" | "restore";
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
        /** What ties it to others, and why. */
        readonly links?:
          | readonly {
            /** Id of the other memory. */
            readonly memory_id: string;
            readonly kind: "supersedes" | "conflicts" | "restates" | "distinct";
            /** The rule that found it; `caller` where the writer said so. */
            readonly by: string;
            /** How sure that is, 0 to 1. */
            readonly score: number;
          }[]
          | undefined;
        readonly versions: readonly {
          /** Its number. */
          readonly version: number;
          /** Id of the blob; empty until it is stored. */
          readonly blob_id: string;
          /** When it was accepted. */
          readonly created_at: string;
        }[];
      };
    };
  };
  /** Write a new version of a memory. */
  readonly "PUT /api/memories/:id": {
    readonly access: "signed";
    readonly body: {
      readonly text?: string | undefined;
      /** An earlier version to copy, instead of a text. */
      readonly from_version?: number | undefined;
      readonly metadata?: { readonly [name: string]: unknown } | null | undefined;
      readonly importance?: number | undefined;
      readonly occurred_at?: string | null | undefined;
      readonly expires_at?: string | null | undefined;
      readonly valid_from?: string | null | undefined;
      readonly valid_to?: string | null | undefined;
      readonly supersedes?: readonly string[] | null | undefined;
      readonly key?: string | null | undefined;
      readonly trust?: "user" | "agent" | "import" | "web" | undefined;
      /** What is done about secrets; `allow` only where the relayer allows them. */
      readonly secrets?: "refuse" | "redact" | "allow" | undefined;
      /** Refuses the change when the newest version is another one. */
      readonly expected_version?: number | undefined;
    };
    readonly answers: {
      readonly 202: {
        /** Id of the job, another one than the memory's. */
        readonly job_id: string;
        /** Id of the memory. */
        readonly memory_id: string;
        /** Number of the new version. */
        readonly version: number;
        readonly status: "running" | "pending";
        /** Namespace. */
        readonly namespace: string;
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
  /** Delete a memory with all its versions. */
  readonly "DELETE /api/memories/:id": {
    readonly access: "signed";
    readonly query: {
      /** Refuses the deletion when the newest version is another one; needs `read`. */
      readonly expected_version?: number | undefined;
    };
    readonly answers: {
      readonly 200: {
        /** Id of the memory. */
        readonly memory_id: string;
        readonly deleted: true;
        /** What became of its blob; absent without `read`. */
        readonly blob?: "deleted" | "retained" | "none" | undefined;
        /** Memories that said the same in other words, for which it stood: deleted, too. */
        readonly restatements?: readonly string[] | undefined;
        /** Whether no byte of it is left anywhere; what is left says the receipt. */
        readonly erased?: boolean | undefined;
        /** What was deleted and what is left of it, signed; absent without `read`. */
        readonly receipt?: {
          /** JSON, exactly as it was signed. */
          readonly statement: string;
          /** Ed25519, 128 hex characters. */
          readonly signature: string;
          /** The relayer's receipt key, 64 hex characters. */
          readonly public_key: string;
        } | undefined;
      };
    };
  };
  /** List namespaces with counts. */
  readonly "GET /api/namespaces": {
    readonly access: "signed";
    readonly query: {
      readonly limit?: number | undefined;
      /** `next_cursor` of the page before. */
      readonly cursor?: string | undefined;
    };
    readonly answers: {
      readonly 200: {
        readonly namespaces: readonly {
          /** Namespace. */
          readonly namespace: string;
          /** Number of memories. */
          readonly memory_count: number;
          /** Size of their ciphertext. */
          readonly storage_bytes: number;
          /** Time of the last write. */
          readonly last_write_at: string;
          /** What becomes of memories that say something else than an older one. */
          readonly conflicts: "suggest" | "auto" | "off";
          /** Whether what says the same as a memory that is there is kept behind it. */
          readonly deduplicate: boolean;
        }[];
        /** Number of all namespaces. */
        readonly total: number;
        /** Where the next page starts; absent on the last. */
        readonly next_cursor?: string | undefined;
      };
    };
  };
  /** Counts of a namespace. */
  readonly "POST /api/stats": {
    readonly access: "signed";
    readonly body: {
      /** 1 to 256 bytes; missing or empty means default. */
      readonly namespace?: string | undefined;
    };
    readonly answers: {
      readonly 200: {
        /** Number of memories. */
        readonly memory_count: number;
        /** Size of their ciphertext. */
        readonly storage_bytes: number;
        /** Unfinished jobs. */
        readonly pending: number;
        /** Namespace. */
        readonly namespace: string;
        /** Address of the owner. */
        readonly owner: string;
      };
    };
  };
  /** Delete every memory of a namespace. */
  readonly "POST /api/forget": {
    readonly access: "signed";
    readonly body: {
      readonly namespace: string;
    };
    readonly answers: {
      readonly 200: {
        /** Number of memories deleted; absent without `read`. */
        readonly deleted?: number | undefined;
        /** Namespace. */
        readonly namespace: string;
        /** Address of the owner. */
        readonly owner: string;
        /** Whether no byte of it is left anywhere; what is left says the receipt. */
        readonly erased?: boolean | undefined;
        /** What was deleted and what is left of it, signed; absent without `read`, and where nothing was deleted. */
        readonly receipt?: {
          /** JSON, exactly as it was signed. */
          readonly statement: string;
          /** Ed25519, 128 hex characters. */
          readonly signature: string;
          /** The relayer's receipt key, 64 hex characters. */
          readonly public_key: string;
        } | undefined;
      };
    };
  };
  /** A receipt for memories that were deleted, as things are now. */
  readonly "POST /api/receipts": {
    readonly access: "signed";
    readonly body: {
      /** 1 to 256 bytes; missing or empty means default. */
      readonly namespace?: string | undefined;
      readonly memory_ids: readonly string[];
    };
    readonly answers: {
      readonly 200: {
        /** Whether no byte of them is left anywhere. */
        readonly erased: boolean;
        /** What was deleted and what is left of it, signed. */
        readonly receipt: {
          /** JSON, exactly as it was signed. */
          readonly statement: string;
          /** Ed25519, 128 hex characters. */
          readonly signature: string;
          /** The relayer's receipt key, 64 hex characters. */
          readonly public_key: string;
        };
      };
    };
  };
}
