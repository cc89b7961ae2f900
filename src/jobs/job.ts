import type { JobErrorCode } from "../errors.ts";
import type { Scope, Source } from "../interfaces/mod.ts";
import type { Stored } from "./staging.ts";

/** State of a job (docs/protocol.md#8). */
export type JobState = "pending" | "running" | "uploaded" | "done" | "failed";

/** What is known of a memory when its job is accepted. Times are milliseconds since the epoch. */
export interface JobSpec extends Scope {
  /** Job id, a UUID. */
  readonly id: string;
  /** Memory the job writes; its own id for a new memory. */
  readonly memoryId: string;
  /** Version the job writes. */
  readonly version: number;
  /** Account object id. */
  readonly accountId: string;
  /** Where the memory came from. */
  readonly source: Source;
  /** When the memory was accepted first. */
  readonly createdAt: number;
  /** When this version was accepted. */
  readonly acceptedAt: number;
  /** When the fact happened. */
  readonly occurredAt?: number;
  /** When the memory stops being recallable. */
  readonly expiresAt?: number;
  /** 0 to 1. */
  readonly importance: number;
  /** Size of the payload in bytes, for quotas. */
  readonly bytes: number;
}

/** An accepted job as it lies in the KV table until it ends. */
export interface AcceptedJob extends JobSpec {
  /** The sealed payload. */
  readonly payload: Stored;
}

/** An ended job as it lies in the KV table until its retention ends. */
export interface EndedJob extends JobSpec {
  /** How it ended. */
  readonly state: "done" | "failed";
  /** Tries it took. */
  readonly attempts: number;
  /** When it ended. */
  readonly endedAt: number;
  /** Whether the memory is recallable. */
  readonly recallable: boolean;
  /** Blob of the memory, when stored. */
  readonly blobId?: string;
  /** Why it failed. */
  readonly errorCode?: JobErrorCode;
  /** The payload, kept for a retry. */
  readonly payload?: Stored;
  /** Sealed result, kept where a memory or a blob may be made of it already. */
  readonly step?: Stored;
  /** Whether its retention is over and it stays for its sealed result only. */
  readonly expired?: true;
}

/** How a job ends. */
export interface Ending {
  /** Final state. */
  readonly state: "done" | "failed";
  /** Why it failed. */
  readonly errorCode?: JobErrorCode;
  /** Keeps the payload, so that the job can be retried. */
  readonly keepPayload?: boolean;
  /** Keeps the sealed result, where a memory or a blob may be made of it already. */
  readonly keepStep?: boolean;
}

/** How far a job came; one entry that moves with every attempt. */
export interface Progress {
  /** Start of the process that works on it. */
  readonly boot: string;
  /** Tries so far. */
  readonly attempts: number;
  /** Why the last try failed. */
  readonly errorCode?: JobErrorCode;
  /** Whether the memory is encrypted and indexed. */
  readonly recallable: boolean;
  /** When it may run next, milliseconds since the epoch. */
  readonly due: number;
}

/** A job record for callers (docs/protocol.md#8). */
export interface JobView extends JobSpec {
  /** State. */
  readonly state: JobState;
  /** Whether the memory is encrypted and indexed. */
  readonly recallable: boolean;
  /** Tries so far. */
  readonly attempts: number;
  /** When the job last changed. */
  readonly updatedAt: number;
  /** Blob of the memory, when stored. */
  readonly blobId: string | undefined;
  /** Why it failed, or why the last try did. */
  readonly errorCode: JobErrorCode | undefined;
}

/** Makes UUIDs of version 7: ids in the order of their making keep the table's inserts sequential. */
export class TimeOrderedIds {
  #last = 0;
  #counter = 0;

  /** The next one; `now` in milliseconds since the epoch. */
  next(now: number): string {
    const at = Math.max(this.#last, now);
    this.#counter = at === this.#last ? (this.#counter + 1) & 0xfff : 0;
    // A full counter borrows the next millisecond.
    this.#last = at === this.#last && this.#counter === 0 ? at + 1 : at;
    const time = this.#last.toString(16).padStart(12, "0");
    const sequence = this.#counter.toString(16).padStart(3, "0");
    return `${time.slice(0, 8)}-${time.slice(8)}-7${sequence}-${crypto.randomUUID().slice(19)}`;
  }
}

/** Texts for people of the job error codes. */
export const JOB_ERRORS: Readonly<Record<JobErrorCode, string>> = {
  embedding_failed: "The text could not be embedded",
  encryption_failed: "The memory could not be encrypted",
  storage_failed: "The memory could not be stored",
  quota_exceeded: "The storage quota is used up",
  deleted: "The memory was deleted",
  internal_error: "Something went wrong on our side",
};
