import type { ScopeIndex } from "../index/scope_index.ts";
import type { RelayerConfig } from "../interfaces/config.ts";
import type { Backends, ExpiryStore, Scope } from "../interfaces/mod.ts";
import type { KeyStore, Sealer } from "../interfaces/plugin.ts";
import type { JobTables } from "../jobs/tables.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { JobWorker } from "../jobs/worker.ts";
import type { Logger } from "../log.ts";
import type { ActivityLog } from "../storage/activity_log.ts";
import type { CopyTable } from "../storage/core/copy_table.ts";
import type { KeyUse } from "../storage/core/key_use_table.ts";
import type { PolicyTable } from "../storage/core/policy_table.ts";
import type { TombstoneBlobTable } from "../storage/core/tombstone_blob_table.ts";
import type { TombstoneTable } from "../storage/core/tombstone_table.ts";
import type { VersionTable } from "../storage/core/version_table.ts";
import type { SavedWords } from "../storage/saved_words.ts";
import type { FairTurns } from "./fair_turns.ts";
import type { Caller } from "./caller.ts";
import type { JobContents } from "./waiting/job_contents.ts";
import type { PayloadKeys } from "./waiting/payload_keys.ts";
import type { Owners } from "./owners/owners.ts";
import type { RowWrites } from "./remove/row_writes.ts";
import type { RecentlyRecalled } from "./recall/recently_recalled.ts";
import type { QueryVectors } from "./recall/query_vectors.ts";
import type { KeyLock } from "../key_lock.ts";

/** The key that signs receipts, made of the relayer key. */
interface ReceiptKey {
  /** Ed25519, 64 hex characters. */
  readonly publicKey: string;
  /** A statement, signed (docs/protocol.md#10.14). */
  sign(statement: string): SignedReceipt;
}

/** A statement and its signature, as answers have them. */
export interface SignedReceipt {
  readonly statement: string;
  readonly signature: string;
  readonly public_key: string;
}

/** What the operations on memories are built on. */
export interface Parts extends Backends {
  readonly config: RelayerConfig;
  readonly index: ScopeIndex;
  readonly savedWords: SavedWords;
  readonly jobs: Jobs;
  readonly worker: JobWorker;
  readonly expiries: ExpiryStore;
  readonly staging: Pick<JobTables["staging"], "put" | "sweep">;
  /** Keys of what waits for its job. */
  readonly payloadKeys: PayloadKeys;
  /** Of whom this relayer may speak. */
  readonly owners: Owners;
  /** Takes what was deleted out of the file of the jobs. */
  readonly scrubJobs: () => Promise<void>;
  /** Deletions, written before anything is removed. */
  readonly tombstones: Omit<TombstoneTable, "tombstone">;
  /** Deletions that the blob store is told. */
  readonly tombstoneBlobs: Omit<TombstoneBlobTable, never>;
  /** Versions of memories that were replaced. */
  readonly versions: Omit<VersionTable, never>;
  /** How often memories were written again, word for word. */
  readonly copies: Pick<CopyTable, "note" | "of" | "remove" | "flush">;
  /** What owners chose for single namespaces. */
  readonly policies: Omit<PolicyTable, never>;
  /** When delegate keys were used. */
  readonly keyUse: KeyUse;
  /** What keys did. */
  readonly activity: Pick<ActivityLog, "note" | "page">;
  /** Name the accounts of memories. */
  readonly keys: Pick<KeyStore, "get">;
  /** Seals under the relayer key, for one purpose. */
  readonly sealer: (purpose: string) => Sealer;
  /** 32 bytes that only this relayer makes of a text: short texts are guessed by a plain hash. */
  readonly importedId: (text: string) => Uint8Array;
  /** 32 bytes that only this relayer makes of a text, to know one that is said again. */
  readonly sameText: (text: string) => Uint8Array;
  /** Signs receipts of deletions. */
  readonly receipts: ReceiptKey;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What they share besides while they run. */
interface Shared extends Parts {
  readonly contents: JobContents;
  readonly cursors: Sealer;
  readonly queries: QueryVectors;
  /** What was answered to whom in the last minutes. */
  readonly recentlyRecalled: Pick<RecentlyRecalled, "note" | "has">;
  readonly chats: FairTurns;
  /** Turns of reads that open much. */
  readonly largeReads: FairTurns;
  /** Lets one analyze at a time compare and write in a scope. */
  readonly analyses: KeyLock;
  /** Lets one import of an owner at a time look what is there and write. */
  readonly imports: KeyLock;
  /** Lets one restore at a time count what it did in a scope. */
  readonly restores: KeyLock;
  readonly quota: { reserve(owner: string, bytes: number): Promise<Disposable> };
  /** Rows that are written beside jobs. */
  readonly rowWrites: RowWrites;
  readonly largeScopes: {
    has(scope: Scope): Promise<boolean>;
    isAtHand(scope: Scope): Promise<boolean>;
  };
  readonly reembedding: { hurry(scope: Scope, caller: Caller, ms: number): Promise<number> };
  readonly tombstoneSender: { notify(): void };
  readonly erasure: { hurry(ms: number): Promise<void> };
  readonly expiry: { purge(scope: Scope): void };
}

/** Names of the parts that are used whole. */
type Whole<T> = keyof Shared & { [K in keyof T]: T[K] extends true ? K : never }[keyof T];

/**
 * What an operation uses: of each part the methods that are named, or all of it. It can be given no
 * more, and a test need give it no more.
 */
export type Uses<T extends { [K in keyof Shared]?: keyof Shared[K] | true }, Base = unknown> =
  & Base
  & Pick<Shared, Whole<T>>
  & {
    readonly [K in Exclude<keyof T & keyof Shared, Whole<T>>]: Pick<
      Shared[K],
      T[K] & keyof Shared[K]
    >;
  };
