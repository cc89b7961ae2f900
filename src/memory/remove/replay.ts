import type { Scope } from "../../interfaces/mod.ts";
import { scopeKey } from "../../interfaces/scope_key.ts";
import { storedEntries } from "../open.ts";
import { cancel, type Gone, isWorkedOn, removeMemories, type Removing } from "./remove.ts";

/**
 * Finishes deletions that a crash or a store that failed has interrupted.
 *
 * @param namingMs Longest wait for the blob store to name a blob, milliseconds.
 * @throws {SvcError} what the stores throw: the next call goes on.
 */
export async function replayTombstones(domain: Removing, namingMs?: number): Promise<void> {
  const { tombstones } = domain;
  const unfinished = [...tombstones.unapplied(), ...tombstones.forgetting()];
  const owners = new Set(unfinished.map(({ owner }) => owner));
  for (const owner of owners) await replayDeletions(domain, owner, namingMs);
}

/** The same for one owner, where this relayer has it. */
export async function replayDeletions(
  domain: Removing,
  owner: string,
  namingMs?: number,
): Promise<void> {
  using hold = domain.owners.holdOwn(owner);
  if (hold === undefined) return;
  const { tombstones } = domain;
  const unfinished: Scope[] = [...tombstones.unapplied(), ...tombstones.forgetting()];
  const own = unfinished.filter((item) => item.owner === owner);
  for (const [first] of Map.groupBy(own, scopeKey).values()) {
    if (first === undefined) continue;
    await finishDeletions(domain, { owner, namespace: first.namespace }, namingMs);
  }
}

/**
 * Gives tombstones to what a forgotten scope still has of that time: rows that nobody knew of, and
 * memories of failed jobs, which hold them for a retry.
 */
async function nameForgotten(domain: Removing, scope: Scope, until: number): Promise<void> {
  const { index, jobs, rowWrites, tombstones } = domain;
  const held = await jobs.heldIn(scope, until);
  const rows = await index.read(scope, (loaded) => [...loaded.entries(), ...rowWrites.in(scope)]);
  const ids = rows.filter(({ updatedAt }) => updatedAt <= until).map(({ id }) => id);
  const unnamed = [...ids, ...held].filter((id) => !tombstones.isDeleted(scope, id));
  tombstones.addTombstones(scope, unnamed, until);
}

/**
 * Removes what is left of deleted memories and forgets of a scope; answers those memories.
 *
 * @param namingMs Longest wait for the blob store to name a blob, milliseconds.
 */
export async function finishDeletions(
  domain: Removing,
  scope: Scope,
  namingMs?: number,
): Promise<Gone[]> {
  const { owner, namespace } = scope;
  const forgetting = domain.tombstones.forgetting()
    .find((one) => one.owner === owner && one.namespace === namespace);
  if (forgetting !== undefined) await nameForgotten(domain, scope, forgetting.at);
  const removed = await removeUnapplied(domain, scope, namingMs);
  if (forgetting !== undefined) domain.tombstones.endForget(scope, forgetting.at);
  return removed;
}

async function removeUnapplied(
  domain: Removing,
  scope: Scope,
  namingMs: number | undefined,
): Promise<Gone[]> {
  const unapplied = [...domain.tombstones.unappliedIn(scope)];
  const ids = new Set(unapplied.filter((id) => !isWorkedOn(domain, scope, id)));
  if (ids.size === 0) return [];
  await cancel(
    domain,
    domain.jobs.liveIn(scope).filter((live) => ids.has(live.job.memoryId)),
  );
  const gone = new Map<string, Gone>([...ids].map((id) => [id, { id }]));
  for (const entry of await storedEntries(domain, scope.owner, [...ids])) {
    if (entry.namespace === scope.namespace) gone.set(entry.id, entry);
  }
  const memories = [...gone.values()];
  const { unnamed } = await removeMemories(domain, scope, memories, { mayUpload: ids, namingMs });
  domain.tombstones.markApplied(scope, [...ids].filter((id) => !unnamed.has(id)));
  return memories;
}
