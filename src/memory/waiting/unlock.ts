import type { Uses } from "../parts.ts";
import { SvcError } from "../../errors.ts";
import type { JobSpec } from "../../interfaces/mod.ts";
import { scopeKey } from "../../interfaces/scope_key.ts";
import { type Caller, isOpenTo } from "../caller.ts";

/** What a request is about; without namespaces and ids, about everything. */
interface Concern {
  readonly namespaces: ReadonlySet<string>;
  /** Of jobs or memories. */
  readonly ids: readonly string[];
}

function concerns({ namespaces, ids }: Concern, { namespace, id, memoryId }: JobSpec): boolean {
  if (namespaces.size + ids.length === 0) return true;
  return namespaces.has(namespace) || ids.includes(id) || ids.includes(memoryId);
}

/**
 * Opens what waits for a caller who may read it, and lets its jobs go on. Those that cannot be opened
 * stay locked and say why.
 */
export async function unlockJobs(
  domain: Uses<{
    payloadKeys: "open" | "isOpen";
    jobs: "locked" | "unlock";
    worker: "resume";
  }>,
  caller: Caller,
  concern: Concern,
): Promise<void> {
  if (caller.credential === undefined) return;
  const { payloadKeys, jobs, worker } = domain;
  const locked = jobs.locked.of(caller.account.owner)
    .filter(({ job }) => isOpenTo(caller, job.namespace) && concerns(concern, job));
  if (locked.length === 0) return;
  const places = Map.groupBy(locked, ({ job }) => `${job.accountId} ${scopeKey(job)}`);
  await Promise.all([...places.values()].map(async (lives) => {
    const { accountId, owner, namespace } = lives[0]!.job;
    const sealed = lives.map(({ job }) => job.payloadKey ?? "");
    await payloadKeys.open(sealed, caller, { accountId, owner, namespace }).catch((thrown) => {
      const error = SvcError.from(thrown);
      // Who went away was refused nothing.
      if (caller.signal?.aborted) return;
      for (const live of lives) if (live.isLocked) live.lock = error;
    });
  }));
  // A key opens more of its namespace than was asked for.
  const open = jobs.locked.of(caller.account.owner).filter(({ job }) => payloadKeys.isOpen(job));
  jobs.unlock(open);
  // Each when it is due, and those later that may have ended the process.
  worker.resume(open);
}
