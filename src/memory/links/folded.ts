import type { JobView } from "../../jobs/job.ts";
import { type Caller, mayRead } from "../caller.ts";
import { entriesFor } from "../open.ts";
import type { Uses } from "../parts.ts";

type FindingFolded = Uses<{ vectorStore: "get"; tombstones: "isDeleted" }>;

/** The memory that stands for a new one, and the rule that found it. */
export interface Folded {
  readonly memoryId: string;
  readonly reason: string;
}

/** For jobs whose memory is kept behind another one, by the ids of the jobs: behind which. */
export async function foldedOf(
  domain: FindingFolded,
  caller: Caller,
  jobs: readonly JobView[],
): Promise<ReadonlyMap<string, Folded>> {
  const found = new Map<string, Folded>();
  const compared = jobs.filter(({ recallable, proposes }) => recallable && proposes !== undefined);
  // Whoever may not read is not told what is there.
  if (compared.length === 0 || !mayRead(caller)) return found;
  const entries = await entriesFor(domain, caller, compared.map(({ memoryId }) => memoryId));
  for (const { id, memoryId, version } of compared) {
    const entry = entries.find((one) => one.id === memoryId && one.version === version);
    const link = entry?.standing?.links?.find(({ kind }) => kind === "restates");
    if (entry === undefined || link === undefined) continue;
    if (domain.tombstones.isDeleted(entry, link.id)) continue;
    found.set(id, { memoryId: link.id, reason: link.by });
  }
  return found;
}
