import type { IndexedMemory } from "../../index/ranking.ts";
import type { Scope } from "../../interfaces/mod.ts";
import type { Uses } from "../parts.ts";

export type SeeingChanges = Uses<{ jobs: "changingIn" }>;

/** What is told apart of a memory that writes may change. */
type Changed = Pick<IndexedMemory, "id" | "version" | "standing">;

/**
 * Whether a write that was accepted, and is not recallable yet, changes a memory or takes its place:
 * what is sent after it, and says what the memory says, must not be kept behind what is over. All is as
 * of this call.
 *
 * @param before Id of a job: only those count that were accepted before it.
 */
export function changesUnderWay(
  { jobs }: SeeingChanges,
  scope: Scope,
  before?: string,
): (memory: Changed) => boolean {
  const versions = new Map<string, number>();
  const superseded = new Set<string>();
  let isKeyed = false;
  for (const { job, recallable, cancelled } of jobs.changingIn(scope)) {
    if (recallable || cancelled || (before !== undefined && job.id >= before)) continue;
    const { memoryId, version, standing, proposes, source } = job;
    if (version > 1) versions.set(memoryId, Math.max(version, versions.get(memoryId) ?? 0));
    for (const { id, kind } of standing?.links ?? []) if (kind === "supersedes") superseded.add(id);
    // What a job is about is sealed in its payload; nothing is looked for where it is said.
    if (proposes === undefined && source !== "manual") isKeyed = true;
  }
  return ({ id, version, standing }) =>
    (versions.get(id) ?? 0) > version || superseded.has(id) ||
    (isKeyed && standing?.keyDigest !== undefined);
}
