// Written by `deno task docs` from the table of routes.

/** What the routes in `src/wire/table/review.ts` take and answer. */
export interface ReviewRoutes {
  /** Memories that somebody should look at. */
  readonly "GET /api/review": {
    readonly access: "signed";
    readonly query: {
      /** 1 to 256 bytes; missing or empty means default. */
      readonly namespace?: string | undefined;
      readonly limit?: number | undefined;
      /** `next_cursor` of the page before. */
      readonly cursor?: string | undefined;
      readonly reason?: "conflict" | "superseded" | "folded" | "untrusted" | undefined;
    };
    readonly answers: {
      readonly 200: {
        /** Newest first. */
        readonly items: readonly {
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
          /** `conflict`: a rule found that it says something else than another one; `superseded`: by a rule it takes its place; `folded`: by a rule it says the same; `untrusted`: it came from the web or another product. */
          readonly reasons: readonly ("conflict" | "superseded" | "folded" | "untrusted")[];
          /** What rules found. */
          readonly links: readonly {
            /** Id of the other memory. */
            readonly memory_id: string;
            readonly kind: "supersedes" | "conflicts" | "restates" | "distinct";
            /** The rule that found it; `caller` where the writer said so. */
            readonly by: string;
            /** How sure that is, 0 to 1. */
            readonly score: number;
            /** What the other one says. */
            readonly text?: string | undefined;
            /** Code of the error for which there is no text. */
            readonly text_error?: string | undefined;
          }[];
        }[];
        /** Number of all items. */
        readonly total: number;
        /** What becomes of memories that say something else than an older one. */
        readonly conflicts: "suggest" | "auto" | "off";
        /** Where the next page starts; absent on the last. */
        readonly next_cursor?: string | undefined;
      };
    };
  };
  /** Accept or undo what a rule found about a memory. */
  readonly "POST /api/review": {
    readonly access: "signed";
    readonly body: {
      /** Id of the memory. */
      readonly memory_id: string;
      readonly decision: "accept" | "undo";
      /** Only what ties it to this one. */
      readonly other_id?: string | undefined;
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
  /** Choose what becomes of contradictions and repetitions in a namespace. */
  readonly "PUT /api/namespaces": {
    readonly access: "signed";
    readonly body: {
      readonly namespace: string;
      /** `null`: what the relayer's settings say. */
      readonly conflicts?: "suggest" | "auto" | "off" | null | undefined;
      /** Whether what says the same is kept once; `null`: what the relayer's settings say. */
      readonly deduplicate?: boolean | null | undefined;
    };
    readonly answers: {
      readonly 200: {
        /** Namespace. */
        readonly namespace: string;
        /** What becomes of memories that say something else than an older one. */
        readonly conflicts: "suggest" | "auto" | "off";
        /** Whether what says the same as a memory that is there is kept behind it. */
        readonly deduplicate: boolean;
      };
    };
  };
}
