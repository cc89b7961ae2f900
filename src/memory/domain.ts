import type { ScopeIndex } from "../index/scope_index.ts";
import type { RelayerConfig } from "../interfaces/config.ts";
import type { Backends } from "../interfaces/mod.ts";
import type { KeyStore, Sealer } from "../interfaces/plugin.ts";
import type { Expiries } from "../jobs/expiries.ts";
import type { Staging } from "../jobs/staging.ts";
import type { JobStore } from "../jobs/store.ts";
import type { JobWorker } from "../jobs/worker.ts";
import type { Logger } from "../log.ts";
import type { KeyUseTable } from "../storage/core/key_use_table.ts";
import type { TombstoneBlobTable } from "../storage/core/tombstone_blob_table.ts";
import type { TombstoneTable } from "../storage/core/tombstone_table.ts";
import type { WordsFiles } from "../storage/words_files.ts";
import { BoundedCalls } from "./bounded_calls.ts";
import { JobContents } from "./job_contents.ts";
import { Quota } from "./remember.ts";
import { LargeScopes } from "./recall/candidates.ts";
import { QueryVectors } from "./recall/query_vectors.ts";
import { ExpirySweeper } from "./remove/expiry.ts";
import { TombstoneSender } from "./remove/tombstones.ts";
import { ScopeLock } from "./scope_lock.ts";
import { Reembedding } from "./upkeep/reembedding.ts";

export interface DomainParts extends Backends {
  readonly config: RelayerConfig;
  readonly index: ScopeIndex;
  readonly wordsFiles: WordsFiles;
  readonly jobs: JobStore;
  readonly worker: JobWorker;
  readonly expiries: Expiries;
  readonly staging: Staging;
  /** Deletions, written before anything is removed. */
  readonly tombstones: Omit<TombstoneTable, "tombstone">;
  /** Deletions that the blob store is told. */
  readonly tombstoneBlobs: Omit<TombstoneBlobTable, never>;
  /** When delegate keys were used; times in milliseconds since the epoch. */
  readonly keyUse: Omit<KeyUseTable, never>;
  /** Name the accounts of memories. */
  readonly keys: Pick<KeyStore, "get">;
  /** Seals under the relayer key, for one purpose. */
  readonly sealer: (purpose: string) => Sealer;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface Domain extends DomainParts {
  readonly contents: JobContents;
  readonly cursors: Sealer;
  readonly quota: Quota;
  readonly queries: QueryVectors;
  /** Scopes that are not loaded. */
  readonly largeScopes: LargeScopes;
  readonly chats: BoundedCalls;
  /** Lets one analyze at a time compare and write in a scope. */
  readonly analyses: ScopeLock;
  /** Lets one restore at a time count what it did in a scope. */
  readonly restores: ScopeLock;
  readonly reembedding: Reembedding;
  readonly tombstoneSender: TombstoneSender;
  readonly expiry: ExpirySweeper;
}

/** Adds what the operations share while they run. */
export function openDomain(parts: DomainParts): Domain {
  const { config, embedder, jobs, staging, sealer, now } = parts;
  const contents = new JobContents(jobs, staging, sealer);
  const tombstoneSender = new TombstoneSender(parts);
  return {
    ...parts,
    contents,
    cursors: sealer("cursor"),
    quota: new Quota({ ...parts, quotaBytes: config.quotaBytes }),
    queries: new QueryVectors(embedder, config.embeddingCacheTtlSeconds, now),
    largeScopes: new LargeScopes(parts),
    chats: new BoundedCalls(config.llmCalls, 8 * config.llmCalls),
    analyses: new ScopeLock(),
    restores: new ScopeLock(),
    reembedding: new Reembedding({ ...parts, contents }),
    tombstoneSender,
    expiry: new ExpirySweeper({ ...parts, contents, tombstoneSender }, parts.expiries),
  };
}
