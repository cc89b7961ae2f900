// Written by `deno task docs` from the table of routes.

/** What the routes in `src/wire/table/remember.ts` take and answer. */
export interface RememberRoutes {
  /** Store a memory. */
  readonly "POST /api/remember": {
    readonly access: "signed";
    readonly body: {
      readonly text: string;
      /** 1 to 256 bytes; missing or empty means default. */
      readonly namespace?: string | undefined;
      /** flat; at most 4 KiB as JSON. */
      readonly metadata?: { readonly [name: string]: unknown } | undefined;
      readonly importance?: number | undefined;
      readonly occurred_at?: string | undefined;
      readonly expires_at?: string | undefined;
      readonly valid_from?: string | undefined;
      readonly valid_to?: string | undefined;
      /** Ids of memories whose place it takes, at most 20. */
      readonly supersedes?: readonly string[] | undefined;
      /** What it is about, at most 256 bytes. */
      readonly key?: string | undefined;
      readonly trust?: "user" | "agent" | "import" | "web" | undefined;
      /** Chat or other session it comes from, at most 256 bytes. */
      readonly session?: string | undefined;
      /** Its place in the session, from 0. */
      readonly position?: number | undefined;
      /** What is done about secrets; `allow` only where the relayer allows them. */
      readonly secrets?: "refuse" | "redact" | "allow" | undefined;
      /** Whether what is said already is not stored again, or kept behind the memory that says it. */
      readonly deduplicate?: boolean | undefined;
    };
    readonly answers: {
      readonly 202: {
        /** Id of the job. */
        readonly job_id: string;
        readonly status: "running" | "pending";
        /** Id of the memory. */
        readonly memory_id: string;
        /** Equals `job_id`. */
        readonly id: string;
        /** Id of the blob; empty until it is stored. */
        readonly blob_id: string;
        /** Address of the owner. */
        readonly owner: string;
        /** Namespace. */
        readonly namespace: string;
        /** Whether a recall finds the memory. */
        readonly recallable: boolean;
        /** Secrets that were replaced by their kind; absent where there were none. */
        readonly redacted?:
          | readonly {
            /** Kind of the secrets, such as aws_access_key. */
            readonly kind: string;
            /** How many were replaced. */
            readonly count: number;
          }[]
          | undefined;
        /** Nothing was stored: `memory_id` says the same, word for word. */
        readonly deduplicated?: true | undefined;
        /** Language that the embedder does not read; said once. */
        readonly unread_language?: string | undefined;
      };
    };
  };
  /** Store up to 20 memories. */
  readonly "POST /api/remember/bulk": {
    readonly access: "signed";
    readonly body: {
      readonly items: readonly {
        readonly text: string;
        /** 1 to 256 bytes; missing or empty means default. */
        readonly namespace?: string | undefined;
        /** flat; at most 4 KiB as JSON. */
        readonly metadata?: { readonly [name: string]: unknown } | undefined;
        readonly importance?: number | undefined;
        readonly occurred_at?: string | undefined;
        readonly expires_at?: string | undefined;
        readonly valid_from?: string | undefined;
        readonly valid_to?: string | undefined;
        /** Ids of memories whose place it takes, at most 20. */
        readonly supersedes?: readonly string[] | undefined;
        /** What it is about, at most 256 bytes. */
        readonly key?: string | undefined;
        readonly trust?: "user" | "agent" | "import" | "web" | undefined;
        /** Chat or other session it comes from, at most 256 bytes. */
        readonly session?: string | undefined;
        /** Its place in the session, from 0. */
        readonly position?: number | undefined;
      }[];
      /** What is done about secrets; `allow` only where the relayer allows them. */
      readonly secrets?: "refuse" | "redact" | "allow" | undefined;
      /** Whether what is said already is not stored again, or kept behind the memory that says it. */
      readonly deduplicate?: boolean | undefined;
    };
    readonly answers: {
      readonly 202: {
        /** One id an item, in the order of the items. */
        readonly job_ids: readonly string[];
        /** Number of items. */
        readonly total: number;
        readonly status: "running";
        /** Items that were not stored: their ids are those of memories that say the same. */
        readonly deduplicated?: readonly number[] | undefined;
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
  /** States of up to 20 jobs. */
  readonly "POST /api/remember/bulk/status": {
    readonly access: "signed";
    readonly body: {
      readonly job_ids: readonly string[];
    };
    readonly answers: {
      readonly 200: {
        /** In the order of the request. */
        readonly results: readonly ({
          /** Id of the job. */
          readonly job_id: string;
          /** State of the job. */
          readonly status: "pending" | "running" | "uploaded" | "done" | "failed";
          /** Whether a recall finds the memory. */
          readonly recallable: boolean;
          /** Id of the memory. */
          readonly memory_id: string;
          /** How often it was tried. */
          readonly attempts: number;
          /** Id of the blob, once it is stored. */
          readonly blob_id?: string | undefined;
          /** Another memory says the same: lists and recall show that one. */
          readonly folded?: {
            /** The memory that stands for it. */
            readonly memory_id: string;
            /** The rule that found it. */
            readonly reason: string;
          } | undefined;
          /** What it cannot go on without: a request of whoever may read it. */
          readonly waits_for?: "credential" | undefined;
          /** Why the last attempt failed. */
          readonly error?: string | undefined;
          readonly error_code?:
            | "embedding_failed"
            | "encryption_failed"
            | "storage_failed"
            | "quota_exceeded"
            | "deleted"
            | "internal_error"
            | undefined;
        } | {
          /** Names no job of the caller. */
          readonly job_id: string;
          readonly status: "not_found";
        })[];
      };
    };
  };
  /** Store what the client encrypted and embedded itself. */
  readonly "POST /api/remember/manual": {
    readonly access: "signed";
    readonly body: {
      readonly encrypted_data?: string | undefined;
      readonly blob_id?: string | undefined;
      readonly vector: readonly number[];
      /** 1 to 256 bytes; missing or empty means default. */
      readonly namespace?: string | undefined;
      /** flat; at most 4 KiB as JSON. */
      readonly metadata?: { readonly [name: string]: unknown } | undefined;
      readonly importance?: number | undefined;
      readonly occurred_at?: string | undefined;
      readonly expires_at?: string | undefined;
    };
    readonly answers: {
      readonly 200: {
        /** Equals `job_id`. */
        readonly id: string;
        /** Id of the blob. */
        readonly blob_id: string;
        /** Address of the owner. */
        readonly owner: string;
        /** Namespace. */
        readonly namespace: string;
        /** Id of the memory. */
        readonly memory_id: string;
        /** Id of the job. */
        readonly job_id: string;
      };
      readonly 202: {
        /** Id of the job. */
        readonly job_id: string;
        readonly status: "running" | "pending";
        /** Id of the memory. */
        readonly memory_id: string;
        /** Equals `job_id`. */
        readonly id: string;
        /** Id of the blob; empty until it is stored. */
        readonly blob_id: string;
        /** Address of the owner. */
        readonly owner: string;
        /** Namespace. */
        readonly namespace: string;
        /** Whether a recall finds the memory. */
        readonly recallable: boolean;
      };
    };
  };
  /** State of a job. */
  readonly "GET /api/remember/:id": {
    readonly access: "signed";
    readonly answers: {
      readonly 200: {
        /** Id of the job. */
        readonly job_id: string;
        /** State of the job. */
        readonly status: "pending" | "running" | "uploaded" | "done" | "failed";
        /** Address of the owner. */
        readonly owner: string;
        /** Namespace. */
        readonly namespace: string;
        /** Whether a recall finds the memory. */
        readonly recallable: boolean;
        /** Id of the memory. */
        readonly memory_id: string;
        /** How often it was tried. */
        readonly attempts: number;
        /** Id of the blob, once it is stored. */
        readonly blob_id?: string | undefined;
        /** Another memory says the same: lists and recall show that one. */
        readonly folded?: {
          /** The memory that stands for it. */
          readonly memory_id: string;
          /** The rule that found it. */
          readonly reason: string;
        } | undefined;
        /** What it cannot go on without: a request of whoever may read it. */
        readonly waits_for?: "credential" | undefined;
        /** Why the last attempt failed. */
        readonly error?: string | undefined;
        readonly error_code?:
          | "embedding_failed"
          | "encryption_failed"
          | "storage_failed"
          | "quota_exceeded"
          | "deleted"
          | "internal_error"
          | undefined;
        /** When it was accepted. */
        readonly created_at: string;
        /** When it changed last. */
        readonly updated_at: string;
      };
    };
  };
  /** Try a failed job again. */
  readonly "POST /api/remember/:id/retry": {
    readonly access: "signed";
    readonly body: Readonly<Record<PropertyKey, never>>;
    readonly answers: {
      readonly 202: {
        /** Id of the job. */
        readonly job_id: string;
        /** State of the job. */
        readonly status: "pending" | "running" | "uploaded" | "done" | "failed";
        /** Address of the owner. */
        readonly owner: string;
        /** Namespace. */
        readonly namespace: string;
        /** Whether a recall finds the memory. */
        readonly recallable: boolean;
        /** Id of the memory. */
        readonly memory_id: string;
        /** How often it was tried. */
        readonly attempts: number;
        /** Id of the blob, once it is stored. */
        readonly blob_id?: string | undefined;
        /** Another memory says the same: lists and recall show that one. */
        readonly folded?: {
          /** The memory that stands for it. */
          readonly memory_id: string;
          /** The rule that found it. */
          readonly reason: string;
        } | undefined;
        /** What it cannot go on without: a request of whoever may read it. */
        readonly waits_for?: "credential" | undefined;
        /** Why the last attempt failed. */
        readonly error?: string | undefined;
        readonly error_code?:
          | "embedding_failed"
          | "encryption_failed"
          | "storage_failed"
          | "quota_exceeded"
          | "deleted"
          | "internal_error"
          | undefined;
        /** When it was accepted. */
        readonly created_at: string;
        /** When it changed last. */
        readonly updated_at: string;
      };
    };
  };
}
