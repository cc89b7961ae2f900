import type { Scope } from "../../interfaces/mod.ts";
import { removeMemories, type Removing } from "../remove/remove.ts";
import type { TombstoneRecord } from "../remove/tombstone_record.ts";
import type { Linking } from "../upkeep/blob_moves.ts";

/** A tombstone and the blob it was found in. */
export interface FoundTombstone {
  /** Id in the blob store. */
  readonly blobId: string;
  /** When it was stored as far as the store tells, milliseconds since the epoch. */
  readonly storedAt: number | undefined;
  /** What was deleted. */
  readonly record: TombstoneRecord;
}

/**
 * Until when a namespace was forgotten. Never later than the tombstone itself: a clock that went
 * ahead must not take what was stored after it.
 */
function forgottenUntil({ record, storedAt }: FoundTombstone, now: number): number {
  if (record.forgotten_until === undefined) return -Infinity;
  return Math.min(Date.parse(record.forgotten_until), storedAt ?? now, now);
}

/**
 * Takes over deletions that were made through another relayer: what they name is not restored, and
 * leaves the index where it was restored before.
 *
 * @returns ids of the memories that were indexed and are removed.
 */
export async function applyTombstones(
  domain: Removing & Pick<Linking, "tombstoneBlobs">,
  scope: Scope,
  found: readonly FoundTombstone[],
): Promise<ReadonlySet<string>> {
  if (found.length === 0) return new Set();
  const now = domain.now();
  const ids = new Set(found.flatMap(({ record }) => record.deleted));
  const until = Math.max(-Infinity, ...found.map((tombstone) => forgottenUntil(tombstone, now)));
  const gone = await domain.index.read(scope, (loaded) => {
    if (until > -Infinity) domain.tombstones.forgetNamespace(scope, until);
    const memories = loaded.entries().filter(({ id, updatedAt }) =>
      ids.has(id) || updatedAt <= until
    );
    for (const { id } of memories) ids.add(id);
    domain.tombstones.addTombstones(scope, [...ids], now);
    return memories;
  });
  await removeMemories(domain, scope, gone);
  domain.tombstones.markApplied(scope, [...ids]);
  for (const { blobId } of found) domain.tombstoneBlobs.sent(scope, blobId);
  return new Set(gone.map(({ id }) => id));
}
