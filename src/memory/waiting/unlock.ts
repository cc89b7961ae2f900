import type { Uses } from "../parts.ts";
import { SvcError } from "../../errors.ts";
import { scopeKey } from "../../interfaces/scope_key.ts";
import { type Caller, isOpenTo } from "../caller.ts";

/**
 * Opens what waits for a caller who may read it, and lets its jobs go on. What cannot be opened stays
 * locked: the caller's own reads tell why.
 */
export async function unlockJobs(
  domain: Uses<{
    payloadKeys: "open" | "isOpen";
    jobs: "lockedOf" | "unlock";
    worker: "notify";
    logger: true;
  }>,
  caller: Caller,
): Promise<void> {
  if (caller.credential === undefined) return;
  const { payloadKeys, jobs, worker, logger } = domain;
  const locked = jobs.lockedOf(caller.account.owner)
    .filter(({ job }) => isOpenTo(caller, job.namespace));
  const places = Map.groupBy(locked, ({ job }) => `${job.accountId} ${scopeKey(job)}`);
  await Promise.all([...places.values()].map(async (lives) => {
    const { accountId, owner, namespace } = lives[0]!.job;
    const sealed = lives.map(({ job }) => job.payloadKey ?? "");
    await payloadKeys.open(sealed, caller, { accountId, owner, namespace }).catch((error) => {
      logger.debug("jobs_locked", { jobs: lives.length, reason: SvcError.from(error).code });
    });
  }));
  const open = locked.filter(({ job }) => payloadKeys.isOpen(job));
  jobs.unlock(open);
  worker.notify(open);
}
