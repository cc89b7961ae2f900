import type { RelayerConfig } from "../interfaces/config.ts";
import type { ScopeIndex } from "../index/scope_index.ts";
import type { Account, Backends, DecryptCredential, Scope } from "../interfaces/mod.ts";
import type { Expiries } from "../jobs/expiries.ts";
import type { JobStore } from "../jobs/store.ts";
import type { JobWorker } from "../jobs/worker.ts";
import type { Staging } from "../jobs/staging.ts";
import type { Logger } from "../log.ts";
import type { Sealer } from "../interfaces/plugin.ts";
import type { BoundedCalls } from "./bounded_calls.ts";
import type { QueryVectors } from "./recall/query_vectors.ts";
import type { Quota } from "./quota.ts";
import type { ScopeTurns } from "./scope_turns.ts";
import type { TextFiles } from "../storage/text_files.ts";

/** Deletions, written before anything is removed; synchronous and durable on return. */
export interface Tombstones {
  /** Marks memories as deleted; `at` in milliseconds since the epoch. */
  addTombstones(scope: Scope, ids: readonly string[], at: number): void;
  /** Whether a memory was deleted. */
  isDeleted(scope: Scope, id: string): boolean;
  /** Marks everything a namespace held until `at` as deleted. */
  forgetNamespace(scope: Scope, at: number): void;
  /** When a namespace was forgotten last. */
  forgottenAt(scope: Scope): number | undefined;
  /** Deletions whose removal is not finished. */
  unapplied(): readonly (Scope & { readonly id: string })[];
  /** Ids of a scope whose removal is not finished: their rows may still be there. */
  unappliedIn(scope: Scope): ReadonlySet<string>;
  /** Notes that the removal is finished. */
  markApplied(scope: Scope, ids: readonly string[]): void;
}

/** A deletion that a blob store must be told. */
export interface UnsentTombstone extends Scope {
  /** Order of deletion. */
  readonly seq: number;
  /** Account object id. */
  readonly accountId: string;
  /** Memory id; empty: everything the namespace held until `at`. */
  readonly id: string;
  /** When it was deleted, milliseconds since the epoch. */
  readonly at: number;
}

/** Deletions told to blob stores that keep the bytes; synchronous and durable on return. */
export interface TombstoneBlobs {
  /** Notes deletions; an empty id means the whole namespace until `at`. */
  add(accountId: string, scope: Scope, ids: readonly string[], at: number): void;
  /** Takes back deletions of what was never stored. */
  remove(scope: Scope, ids: readonly string[]): void;
  /** The oldest deletions that are still to be told, of those noted after `after` (a `seq`). */
  unsent(limit: number, after?: number): UnsentTombstone[];
  /** Notes that a blob holds tombstones, and that these of ours need no other one. */
  sent(scope: Scope, blobId: string, tombstones?: readonly UnsentTombstone[]): void;
  /** Whether a blob is known to hold tombstones. */
  isTombstone(scope: Scope, blobId: string): boolean;
}

/** What the operations on memories work with. */
export interface Domain extends Backends {
  /** Numbers an operator may change. */
  readonly config: RelayerConfig;
  /** Vectors in memory. */
  readonly index: ScopeIndex;
  /** Words of scopes on disk. */
  readonly textFiles: TextFiles;
  /** Durable jobs. */
  readonly jobs: JobStore;
  /** Starts jobs. */
  readonly worker: JobWorker;
  /** When memories end. */
  readonly expiries: Expiries;
  /** Large sealed payloads. */
  readonly staging: Staging;
  /** Deletions. */
  readonly tombstones: Tombstones;
  /** Deletions that the blob store is told. */
  readonly tombstoneBlobs: TombstoneBlobs;
  /** When delegate keys were used; times in milliseconds since the epoch. */
  readonly keyUse: {
    /** Notes a use. */
    touch(publicKey: string, at: number): void;
    /** The last use. */
    lastUsed(publicKey: string): number | undefined;
  };
  /** Seals waiting payloads. */
  readonly payloads: Sealer;
  /** Seals saved steps. */
  readonly steps: Sealer;
  /** Seals cursors. */
  readonly cursors: Sealer;
  /** Storage claimed by writes on their way. */
  readonly quota: Quota;
  /** Embedded queries. */
  readonly queries: QueryVectors;
  /** Calls of the language model under way. */
  readonly chats: BoundedCalls;
  /** Lets one analyze at a time compare and write in a scope. */
  readonly turns: ScopeTurns;
  /** Where failures are noted. */
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Who asks. */
export interface Caller {
  /** The account the signature resolved to. */
  readonly account: Account;
  /** What opens records, where the cipher needs it. */
  readonly credential?: DecryptCredential;
  /** Aborted when the caller is gone. */
  readonly signal?: AbortSignal;
}

/** The caller's scope of that name. */
export function scopeOf(caller: Caller, namespace: string): Scope {
  return { owner: caller.account.owner, namespace };
}

/** Whether a memory accepted at that time was deleted, or its namespace forgotten, since. */
export function wasDeleted(
  domain: Domain,
  scope: Scope,
  memoryId: string,
  acceptedAt: number,
): boolean {
  return domain.tombstones.isDeleted(scope, memoryId) ||
    acceptedAt <= (domain.tombstones.forgottenAt(scope) ?? -Infinity);
}

/** RFC 3339, UTC, milliseconds. */
export function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** Bytes above this are sealed and opened on the thread pool. */
const LARGE_BYTES = 64 * 1024;

/** Seals bytes of any size without holding up the event loop. */
export async function seal(
  sealer: Sealer,
  bytes: Uint8Array,
  additionalData: string,
): Promise<Uint8Array> {
  return bytes.length > LARGE_BYTES
    ? await sealer.sealLarge(bytes, additionalData)
    : sealer.seal(bytes, additionalData);
}

/** Opens sealed bytes of any size without holding up the event loop. */
export async function unseal(
  sealer: Sealer,
  bytes: Uint8Array,
  additionalData: string,
): Promise<Uint8Array> {
  return bytes.length > LARGE_BYTES
    ? await sealer.openLarge(bytes, additionalData)
    : sealer.open(bytes, additionalData);
}
