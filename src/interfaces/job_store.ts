import type { JobErrorCode } from "../errors.ts";
import type { Scope, Source } from "./common.ts";
import type { Standing } from "./vector_store.ts";

/** What a writer may say of a memory's standing. */
export type WrittenStanding = Pick<Standing, "validFrom" | "validTo" | "links" | "trust">;

/** What is looked for among the memories that are there. */
export type Proposing = "repetition" | "conflicts";

/** What is known of a memory when its job is accepted. Times are milliseconds since the epoch. */
export interface JobSpec extends Scope {
  /** Id of the job, a UUID. */
  readonly id: string;
  /** Memory the job writes; its own id for a new memory. */
  readonly memoryId: string;
  /** Version the job writes. */
  readonly version: number;
  /** Account object id. */
  readonly accountId: string;
  /** Public key that signed for it; absent where an earlier version accepted it. */
  readonly publicKey?: string;
  /** Where the memory comes from. */
  readonly source: Source;
  /** When the memory was accepted first. */
  readonly createdAt: number;
  /** When this version was accepted. */
  readonly acceptedAt: number;
  /** When it was written first, where it comes from an export; else when it was accepted. */
  readonly changedAt?: number;
  /** When the fact happened. */
  readonly occurredAt?: number;
  /** When the memory stops being recallable. */
  readonly expiresAt?: number;
  /** What the writer says of it. */
  readonly standing?: WrittenStanding;
  /** Links to memories that are there which may be proposed for it; none when absent. */
  readonly proposes?: readonly Proposing[];
  /** 0 to 1. */
  readonly importance: number;
  /** Size of the payload in bytes, for quotas. */
  readonly bytes: number;
}

/** Sealed bytes inside the record that refers to them, or where they were staged. */
export type Stored =
  | { readonly inline: Uint8Array }
  | { readonly stage: string; readonly chunks: number };

/** An accepted job as it is kept until it ends. */
export interface AcceptedJob extends JobSpec {
  /** What is to be written, sealed. */
  readonly payload: Stored;
  /**
   * The key that it is sealed under, itself sealed by the cipher, in base64; absent where the relayer
   * key opens it.
   */
  readonly payloadKey?: string;
}

/** An ended job as it is kept until its retention ends. */
export interface EndedJob extends JobSpec {
  /** How it ended. */
  readonly state: "done" | "failed";
  /** Tries, the last included. */
  readonly attempts: number;
  /** When it ended. */
  readonly endedAt: number;
  /** Whether the memory is encrypted and indexed. */
  readonly recallable: boolean;
  /** Where its sealed record is. */
  readonly blobId?: string;
  /** Why it failed. */
  readonly errorCode?: JobErrorCode;
  /** The payload, kept for a retry. */
  readonly payload?: Stored;
  /** Its key, as {@linkcode AcceptedJob} has it. */
  readonly payloadKey?: string;
  /** Sealed result, kept where a memory or a blob may be made of it already. */
  readonly step?: Stored;
  /** Whether that may be the only copy of a memory that it never was known to have written. */
  readonly mayBeIndexed?: true;
  /** Whether its memory was deleted while a blob may have been stored whose id nobody knows. */
  readonly mayBeStored?: true;
  /** Whether its retention is over and it stays for what is not done with it only. */
  readonly expired?: true;
}

/**
 * Whether an ended job is found by its memory, by `JobStore.held`: it has bytes, or a deletion
 * ended it and its blob is not gone yet. A job may have another id than its memory, so that after a
 * crash nothing else leads from a deleted memory to its blob.
 */
export function isHeld({ payload, step, blobId, errorCode, mayBeStored }: EndedJob): boolean {
  const isDeleting = mayBeStored === true || errorCode === "deleted" && blobId !== undefined;
  return payload !== undefined || step !== undefined || isDeleting;
}

/** The job that a record was, with what is left of its payload. */
export function acceptedJob(record: EndedJob, payload: Stored): AcceptedJob {
  const { state: _1, attempts: _2, endedAt: _3, recallable: _4, blobId: _5, ...rest } = record;
  const { errorCode: _6, step: _7, mayBeIndexed: _8, mayBeStored: _9, expired: _10, ...job } = rest;
  return { ...job, payload };
}

/** How far a job came; moves with every attempt. */
export interface Progress {
  /** Tries so far, one under way included. */
  readonly attempts: number;
  /** Why the last try failed. */
  readonly errorCode?: JobErrorCode;
  /** Whether the memory is encrypted and indexed. */
  readonly recallable: boolean;
  /** Model of the vectors that it is indexed with; absent in what an earlier version noted. */
  readonly model?: string;
  /** When it may run next, milliseconds since the epoch. */
  readonly due: number;
}

/**
 * Something that a request used up or was answered, kept with what it accepted. Digests are keyed: no
 * plain hash of a request is ever kept; answers are sealed. Times are milliseconds since the epoch.
 */
export type Note =
  | {
    /** Digest of a nonce. */
    readonly nonce: Uint8Array;
    /**
     * Whether its request only read. Then a crash of the store may lose it when it came within the last
     * second before.
     */
    readonly ofRead?: true;
    /** When it was used; it is remembered for ten minutes at least. */
    readonly at: number;
  }
  | {
    /** Digest of a text that was signed without a nonce. */
    readonly text: Uint8Array;
    /** What was answered to it. */
    readonly answer: Uint8Array;
    /** The answer of the same request that this one takes the place of. */
    readonly replaces?: Uint8Array;
    /** When it was used; it is remembered for ten minutes at least. */
    readonly at: number;
  }
  | {
    /** Digest of an idempotency key. */
    readonly idempotency: Uint8Array;
    /** Digest of the body that came with it. */
    readonly body: Uint8Array;
    /** What was answered to it. */
    readonly answer: Uint8Array;
    /** The answer of the same request that this one takes the place of. */
    readonly replaces?: Uint8Array;
    /** When it was used. */
    readonly at: number;
    /** Until when it is remembered. */
    readonly until: number;
  };

/** An answer to an idempotency key. */
export interface IdempotentAnswer {
  /** Digest of the body that came with the key. */
  readonly body: Uint8Array;
  /** What was answered, sealed. */
  readonly answer: Uint8Array;
  /** Until when it is remembered, milliseconds since the epoch. */
  readonly until: number;
}

/**
 * Says that an opening of a store has a job. Whatever is written for the job names it, and is refused
 * once another opening has taken the job over, however late it comes.
 */
export interface Lease {
  /** Id of the job. */
  readonly jobId: string;
  /** Rises each time the job is taken. */
  readonly turn: number;
}

/** An unfinished job that an opening of a store has. */
export interface HeldJob {
  /** What was accepted. */
  readonly job: AcceptedJob;
  /** What is written for it names this. */
  readonly lease: Lease;
  /** Absent: it was never tried. */
  readonly progress?: Progress;
  /** Sealed result of an attempt. */
  readonly step?: Stored;
}

/**
 * Accepted work, durable until it is done and for a while after. What a call wrote is on disk, and
 * seen by every opening, once it resolves; a call that rejects wrote nothing, unless its answer was
 * lost. An opening has the jobs it accepted and those it claimed. Verify an implementation with
 * `jobStoreSuite` of `@svc/relayer/testing`.
 */
export interface JobStore extends AsyncDisposable {
  /**
   * Whether several relayers may have it open at once. Then a note is taken once, whoever brings it,
   * and an opening that is not renewed loses its jobs. Absent: one process has it, and knows by itself
   * what was used up.
   */
  readonly isShared?: boolean;
  /** Keeps large bytes under a name of their own, for an hour unless something refers to them. */
  stage(bytes: Uint8Array, inlineBytes?: number): Promise<Stored>;
  /** Bytes that something refers to; `undefined` when they are gone. */
  read(stored: Stored): Promise<Uint8Array | undefined>;
  /**
   * Accepts jobs with all that belongs to the same request, or nothing of it.
   *
   * @throws {SvcError} `nonce_reused` for a nonce that was used, `idempotency_in_progress` for a text
   * or a key that has another answer than the one to be replaced, where the store is shared.
   */
  accept(jobs: readonly AcceptedJob[], notes: readonly Note[]): Promise<Lease[]>;
  /** The answer to a signed text; `undefined` when there is none. */
  answerTo(text: Uint8Array): Promise<Uint8Array | undefined>;
  /** The answer to an idempotency key; `undefined` when there is none. */
  idempotent(key: Uint8Array): Promise<IdempotentAnswer | undefined>;
  /**
   * What requests used up or were answered and is still remembered, in any order; times of nonces and
   * texts may be up to ten minutes earlier than they were. Absent where a store does not tell.
   */
  notes?(): AsyncIterable<Note>;
  /**
   * Takes unfinished jobs that nobody has, oldest first; none where there are none.
   *
   * @param owner Those of an owner alone, whom this opening has taken, where the store leases owners.
   */
  claim(limit: number, owner?: string): Promise<HeldJob[]>;
  /**
   * Keeps what this opening has, as often as a third of the time that a lease lasts. Answers whether
   * it had it still: after a `false` jobs may be somebody else's.
   */
  renew(): Promise<boolean>;
  /** Notes how far a job came. */
  progress(lease: Lease, progress: Progress): Promise<void>;
  /** Keeps a job's sealed result in place of an earlier one. */
  saveStep(lease: Lease, step: Stored): Promise<void>;
  /** Ends a job: of its payload and its result stays what the record refers to. */
  end(lease: Lease, ended: EndedJob): Promise<void>;
  /**
   * Makes an ended job unfinished again, as this opening's, with what belongs to the same request.
   *
   * @throws {SvcError} `job_not_retryable` when its record is no longer that one.
   */
  retry(ended: EndedJob, progress: Progress, notes: readonly Note[]): Promise<Lease>;
  /** The record of an ended job; `undefined` when there is none. */
  ended(id: string): Promise<EndedJob | undefined>;
  /** Whether a job is unfinished, whoever has it. */
  isUnfinished(id: string): Promise<boolean>;
  /** Records of jobs that ended before a time and whose retention is not over, oldest first. */
  endedBefore(time: number, limit: number): Promise<EndedJob[]>;
  /**
   * Ended jobs of a scope, or of one memory of it, that hold bytes; and those that a deletion ended
   * after they stored a blob, or may have, until they are replaced by a record that is let go of.
   */
  held(scope: Scope, memoryId?: string): Promise<EndedJob[]>;
  /**
   * Puts a record in the place of another one of the same job and end; bytes that it does not refer to
   * are dropped. Ignored when the job has another record, or none.
   *
   * @param letGo Whether `held` is to answer it no more.
   */
  replace(ended: EndedJob, letGo?: boolean): Promise<void>;
  /** Drops a record with its bytes. Ignored when the job has another record, or none. */
  forget(ended: EndedJob): Promise<void>;
  /**
   * Drops bytes that were staged before a time and that nothing refers to, and notes from before;
   * answers how many stages. Times are milliseconds since the epoch.
   */
  sweep(stagedBefore: number, notedBefore: number): Promise<number>;
}
