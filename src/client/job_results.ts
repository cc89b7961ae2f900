// Answers of the routes that write, and jobs (docs/protocol.md#8, #10.1 to #10.5).

/** State of a job. */
export type JobState = "pending" | "running" | "uploaded" | "done" | "failed";

/** How far a job is. */
export interface JobProgress {
  /** Whether a recall finds the memory. */
  readonly recallable: boolean;
  /** Id of the memory. */
  readonly memory_id: string;
  /** How often it was tried. */
  readonly attempts: number;
  /** Id of the blob, once stored. */
  readonly blob_id?: string;
  /** Why the last attempt failed. */
  readonly error?: string;
  /** Stable name of that reason. */
  readonly error_code?: string;
}

/** A job. */
export interface JobRecord extends JobProgress {
  /** Id of the job, a UUID. */
  readonly job_id: string;
  /** Its state. */
  readonly status: JobState;
  /** Address of the owner. */
  readonly owner: string;
  /** Bucket of the memory. */
  readonly namespace: string;
  /** When it was accepted. */
  readonly created_at: string;
  /** When it changed last. */
  readonly updated_at: string;
}

/** A job in a bulk status. */
export interface KnownJobStatus extends JobProgress {
  /** Id of the job. */
  readonly job_id: string;
  /** Its state. */
  readonly status: JobState;
}

/** An id in a bulk status that names no job of the caller. */
export interface UnknownJobStatus {
  /** The id that was asked for. */
  readonly job_id: string;
  /** There is no such job. */
  readonly status: "not_found";
}

/** One entry of a bulk status. */
export type JobStatus = KnownJobStatus | UnknownJobStatus;

/** Answer of a bulk status. */
export interface JobStatuses {
  /** In the order of the request. */
  readonly results: readonly JobStatus[];
}

/** Answer of an accepted remember. */
export interface Accepted {
  /** Id of the job. */
  readonly job_id: string;
  /** Id of the memory; equals the job's. */
  readonly memory_id: string;
  /** Equals `job_id`. */
  readonly id: string;
  /** State of the job. */
  readonly status: JobState;
  /** Empty until the blob is stored. */
  readonly blob_id: string;
  /** Address of the owner. */
  readonly owner: string;
  /** Bucket of the memory. */
  readonly namespace: string;
  /** Whether a recall finds the memory. */
  readonly recallable: boolean;
}

/** Answer of an accepted bulk remember. */
export interface BulkAccepted {
  /** One id an item, in the order of the items. */
  readonly job_ids: readonly string[];
  /** Number of items. */
  readonly total: number;
  /** State of the jobs. */
  readonly status: JobState;
}

/** Answer of a manual remember. `status` is there when the blob is not stored yet. */
export interface ManualStored {
  /** Id of the memory. */
  readonly id: string;
  /** Id of the blob; empty until it is stored. */
  readonly blob_id: string;
  /** Address of the owner. */
  readonly owner: string;
  /** Bucket of the memory. */
  readonly namespace: string;
  /** Id of the memory. */
  readonly memory_id: string;
  /** Id of the job. */
  readonly job_id: string;
  /** State of the job, while it is unfinished. */
  readonly status?: JobState;
}

/** A fact that analyze found. */
export interface Fact {
  /** The fact. */
  readonly text: string;
  /** Equals `job_id`. */
  readonly id: string;
  /** Id of its job. */
  readonly job_id: string;
  /** Id of its memory. */
  readonly memory_id: string;
}

/** Answer of analyze. */
export interface Analyzed {
  /** One job a fact. */
  readonly job_ids: readonly string[];
  /** The facts. */
  readonly facts: readonly Fact[];
  /** Number of facts. */
  readonly fact_count: number;
  /** Number of facts. */
  readonly total: number;
  /** State of the jobs. */
  readonly status: JobState;
  /** Address of the owner. */
  readonly owner: string;
  /** How the facts were found. */
  readonly method?: "llm" | "rules";
}

/** Answer of an import. */
export interface Imported {
  /** Lines that became jobs. */
  readonly accepted: number;
  /** Lines whose memory exists. */
  readonly skipped: number;
  /** Lines that were refused. */
  readonly failed: number;
  /** The jobs. */
  readonly job_ids: readonly string[];
  /** Why lines were refused. */
  readonly errors: readonly {
    readonly line: number;
    readonly code: string;
    readonly error: string;
  }[];
  /** State of the jobs. */
  readonly status: JobState;
}
