import type { MemoryLink, Scope } from "../../interfaces/mod.ts";
import type { JobSpec } from "../../jobs/job.ts";
import type { Uses } from "../parts.ts";
import { judgeRepetition } from "./restatement.ts";

export type ComparingArriving = Uses<{
  jobs: "waitingBefore";
  contents: "payload";
  tombstones: "isDeleted";
}>;

/** Memories that are on their way which a new one is compared with: as many as a request brings. */
const MOST = 20;
/** Longest text that is compared, in bytes. */
const LONGEST = 2_000;

/**
 * The link to a memory that was accepted before, says the same, and is on its way into the index: the
 * items of one request, and texts that arrive at the same moment, are found nowhere else. Only earlier
 * ones are looked at, so that no two stand for each other.
 *
 * @param mayStand Whether a memory may stand for the new one.
 */
export async function arrivingLink(
  { jobs, contents, tombstones }: ComparingArriving,
  job: JobSpec,
  text: string,
  mayStand: (other: JobSpec) => boolean,
): Promise<MemoryLink | undefined> {
  const scope: Scope = { owner: job.owner, namespace: job.namespace };
  if (text.length > LONGEST) return undefined;
  for (const live of jobs.waitingBefore(scope, job.id, MOST)) {
    const { memoryId, version, bytes, source, expiresAt, standing = {} } = live.job;
    const isPlain = source !== "manual" && expiresAt === undefined &&
      standing.validTo === undefined && standing.links === undefined;
    if (!isPlain || memoryId === job.memoryId || bytes > LONGEST || !mayStand(live.job)) continue;
    // The commit that accepts it may still fail.
    if (tombstones.isDeleted(scope, memoryId) || !await live.accepted) continue;
    // A job that ended meanwhile has no payload: its memory is in the index.
    const payload = await contents.payload(live).catch(() => undefined);
    if (payload?.kind !== "text" || payload.key !== undefined) continue;
    const found = judgeRepetition(payload.text, text);
    if (found !== undefined) return { ...found, id: memoryId, version };
  }
  return undefined;
}
