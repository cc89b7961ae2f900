import { scopeKey } from "../../interfaces/scope_key.ts";
import { finishDeletions, type Removing } from "./remove.ts";

/**
 * Finishes deletions that a crash or a store that failed has interrupted.
 *
 * @throws {SvcError} what the stores throw: the next call goes on.
 */
export async function replayTombstones(domain: Removing): Promise<void> {
  const owners = new Set(domain.tombstones.unapplied().map(({ owner }) => owner));
  for (const owner of owners) await replayDeletions(domain, owner);
}

/** The same for one owner, where this relayer has it. */
export async function replayDeletions(domain: Removing, owner: string): Promise<void> {
  using hold = domain.owners.holdOwn(owner);
  if (hold === undefined) return;
  const own = domain.tombstones.unapplied().filter((item) => item.owner === owner);
  for (const [first] of Map.groupBy(own, scopeKey).values()) {
    if (first === undefined) continue;
    await finishDeletions(domain, { owner, namespace: first.namespace });
  }
}
