import type { JobState } from "./job_results.ts";
import type { Metadata } from "./requests.ts";

// Answers of the routes that manage memories (docs/protocol.md#10.8 to #10.10).

/** Where a memory came from. */
export type MemorySource = "remember" | "bulk" | "manual" | "analyze" | "import" | "restore";

/** A memory. */
export interface Memory {
  /** Id, a UUID. */
  readonly memory_id: string;
  /** Bucket. */
  readonly namespace: string;
  /** The text, unless left out. */
  readonly text?: string;
  /** Code of the error for which there is no text; never of a manual memory, which has none. */
  readonly text_error?: string;
  /** Id of the blob; empty until it is stored. */
  readonly blob_id: string;
  /** State of its newest job. */
  readonly status: JobState;
  /** Whether a recall finds it. */
  readonly recallable: boolean;
  /** From 1, raised by each replacement. */
  readonly version: number;
  /** 0 to 1. */
  readonly importance: number;
  /** Data of the caller. */
  readonly metadata?: Metadata;
  /** When the fact happened. */
  readonly occurred_at?: string;
  /** When it ends. */
  readonly expires_at?: string;
  /** When it was accepted first. */
  readonly created_at: string;
  /** When it changed last. */
  readonly updated_at: string;
  /** Ciphertext size. */
  readonly size_bytes: number;
  /** Where it came from. */
  readonly source: MemorySource;
}

/** One version of a memory. */
export interface MemoryVersion {
  /** Its number. */
  readonly version: number;
  /** Its blob. */
  readonly blob_id: string;
  /** When it was accepted. */
  readonly created_at: string;
}

/** A memory and its history. */
export interface MemoryWithVersions extends Memory {
  /** Its versions. */
  readonly versions: readonly MemoryVersion[];
}

/** One page of memories. */
export interface MemoryPage {
  /** The memories. */
  readonly memories: readonly Memory[];
  /** Memories of the namespace. */
  readonly total: number;
  /** Where the next page starts; absent on the last. */
  readonly next_cursor?: string;
}

/** Answer of an accepted replacement. */
export interface UpdateAccepted {
  /** Id of the job; differs from `memory_id`. */
  readonly job_id: string;
  /** Id of the memory. */
  readonly memory_id: string;
  /** Its new version. */
  readonly version: number;
  /** State of the job. */
  readonly status: JobState;
}

/** Answer of a deletion. */
export interface MemoryDeleted {
  /** Id of the memory. */
  readonly memory_id: string;
  /** Always true. */
  readonly deleted: true;
  /** What became of the blob. */
  readonly blob: "deleted" | "retained" | "none";
}

/** A namespace. */
export interface NamespaceInfo {
  /** Its name. */
  readonly namespace: string;
  /** Number of memories. */
  readonly memory_count: number;
  /** Ciphertext size. */
  readonly storage_bytes: number;
  /** Time of the last write. */
  readonly last_write_at: string;
}

/** One page of namespaces. */
export interface NamespacePage {
  /** The namespaces. */
  readonly namespaces: readonly NamespaceInfo[];
  /** Number of namespaces. */
  readonly total: number;
  /** Where the next page starts; absent on the last. */
  readonly next_cursor?: string;
}

/** Numbers of a namespace. */
export interface Stats {
  /** Number of memories. */
  readonly memory_count: number;
  /** Ciphertext size. */
  readonly storage_bytes: number;
  /** Unfinished jobs. */
  readonly pending: number;
  /** Bucket. */
  readonly namespace: string;
  /** Address of the owner. */
  readonly owner: string;
}

/** Answer of forget. */
export interface Forgotten {
  /** Number of memories deleted. */
  readonly deleted: number;
  /** Bucket. */
  readonly namespace: string;
  /** Address of the owner. */
  readonly owner: string;
}

/** Answer of restore; `total` is the sum of the four other numbers. */
export interface Restored {
  /** Entries that were added. */
  readonly restored: number;
  /** Entries that were there. */
  readonly skipped: number;
  /** Blobs found. */
  readonly total: number;
  /** Blobs that could not be read. */
  readonly failed: number;
  /** Missing entries beyond the limit. */
  readonly remaining: number;
  /** Bucket. */
  readonly namespace: string;
  /** Address of the owner. */
  readonly owner: string;
}
