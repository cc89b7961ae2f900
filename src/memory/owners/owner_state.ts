import type { Uses } from "../parts.ts";
import { within } from "../../deadline.ts";
import { SvcError } from "../../errors.ts";
import type { StateStore } from "../../interfaces/mod.ts";
import type { LedgerMirror } from "../../storage/ledger_mirror.ts";
import type { Removing } from "../remove/remove.ts";
import { replayDeletions } from "../remove/replay.ts";
import { NAMING_MS } from "../store_blob.ts";
import { LeasedOwners } from "./leased_owners.ts";
import type { OwnerCounts } from "./owner_counts.ts";
import { ALL_OWNERS, type Owners } from "./owners.ts";

/** What this relayer has of owners. */
type Having = Uses<{
  jobs: "recover" | "letGo";
  worker: "resume" | "expedite";
  embedder: "model";
  cipher: "needsCredential";
  index: "forget";
  copies: "flush";
  logger: true;
}, Removing>;

/** What several relayers share. */
export interface SharedState {
  readonly store: StateStore;
  /** What is in the store's ledger of the owners that this relayer has. */
  readonly mirror: LedgerMirror;
}

/**
 * The owners that a relayer has: all of them, where it shares no store.
 *
 * @param counts Go with the owners.
 * @param domain Asked for once owners come: it is told whose owners it may speak of before it is made.
 */
export function ownersOf(
  shared: SharedState | undefined,
  counts: readonly OwnerCounts[],
  domain: () => Having,
): Owners {
  if (shared === undefined) return ALL_OWNERS;
  const { store, mirror } = shared;
  const warn = (event: string, error: unknown) =>
    domain().logger.warn(event, { reason: SvcError.from(error).code });
  return new LeasedOwners(store.owners, {
    async enter(owner) {
      const { embedder, index, jobs, worker } = domain();
      // What was under way when the owner was lost may have read namespaces once more since.
      index.forget(owner);
      await mirror.load(owner);
      for (const count of counts) count.enter(owner);
      worker.resume(await jobs.recover(embedder.model, owner));
    },
    // A relayer that ended may have left deletions half done.
    entered(owner) {
      replayDeletions(domain(), owner, NAMING_MS.upkeep)
        .catch((error) => warn("deletions_not_finished", error));
    },
    async workOff(owner, ms) {
      const { jobs, worker, cipher, now } = domain();
      if (!cipher.needsCredential) return;
      const open = jobs.liveOf(owner).filter(({ isLocked, due }) => !isLocked && due <= now());
      for (const { job } of open) worker.expedite(job);
      await within(ms, Promise.all(open.map(({ ended }) => ended)));
    },
    async settle(owner) {
      domain().copies.flush();
      const settled = counts.map((count) => count.settle(owner));
      await Promise.all([mirror.flush(owner), ...settled]);
    },
    flush: (owner) => mirror.flush(owner),
    forget(owner) {
      const { jobs, index } = domain();
      jobs.letGo(owner);
      index.forget(owner);
      for (const count of counts) count.forget(owner);
      mirror.drop(owner);
    },
  }, warn);
}
