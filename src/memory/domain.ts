import { FairTurns } from "./fair_turns.ts";
import { JobContents } from "./waiting/job_contents.ts";
import type { Parts } from "./parts.ts";
import { Quota } from "./remember.ts";
import { LargeScopes } from "./recall/candidates.ts";
import { UnreadLanguages } from "./reading.ts";
import { RecentlyRecalled } from "./recall/recently_recalled.ts";
import { QueryVectors } from "./recall/query_vectors.ts";
import { Erasure } from "./remove/erasure.ts";
import { ExpirySweeper } from "./remove/expiry.ts";
import { RowWrites } from "./remove/row_writes.ts";
import { TombstoneSender } from "./remove/tombstones.ts";
import { KeyLock } from "../key_lock.ts";
import { Reembedding } from "./upkeep/reembedding.ts";

/** Reads of large texts at once: each holds its texts several times. */
const LARGE_READS = 2;
const WAITING_READS = 256;

/** Adds what the operations share while they run. */
export function openDomain(parts: Parts) {
  const { config, embedder, jobs, staging, payloadKeys, sealer, now } = parts;
  const contents = new JobContents(jobs, staging, payloadKeys, sealer);
  const rowWrites = new RowWrites();
  const tombstoneSender = new TombstoneSender(parts);
  return {
    ...parts,
    contents,
    cursors: sealer("cursor"),
    quota: new Quota({ ...parts, quotaBytes: config.quotaBytes }),
    queries: new QueryVectors(embedder, config.embeddingCacheTtlSeconds, now),
    recentlyRecalled: new RecentlyRecalled(now),
    unreadLanguages: new UnreadLanguages(embedder),
    largeScopes: new LargeScopes(parts),
    chats: new FairTurns(config.llmCalls, 8 * config.llmCalls),
    largeReads: new FairTurns(LARGE_READS, WAITING_READS),
    analyses: new KeyLock(),
    imports: new KeyLock(),
    restores: new KeyLock(),
    reembedding: new Reembedding({ ...parts, contents, rowWrites }),
    rowWrites,
    tombstoneSender,
    erasure: new Erasure(parts),
    expiry: new ExpirySweeper({ ...parts, contents, rowWrites, tombstoneSender }, parts.expiries),
  };
}

/** What the operations on memories work with: each takes the few parts it names. */
export type Domain = ReturnType<typeof openDomain>;
