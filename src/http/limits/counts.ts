import type { StateStore } from "../../interfaces/mod.ts";
import type { OwnerCounts } from "../../memory/owners/owner_counts.ts";
import { ActivityLog, type ActivityOptions } from "../../storage/activity_log.ts";
import type { CoreDb } from "../../storage/core_db.ts";
import type { KeyUse } from "../../storage/core/key_use_table.ts";
import { OwnerKeyUse } from "../../storage/owner_key_use.ts";
import { type AddressLimiter, SharedLimiter } from "./address_limits.ts";
import { OwnerLimits } from "./owner_limits.ts";
import { RateLimiter } from "./rate_limit.ts";

/** Entries of activity that stay where relayers share them. */
const SHARED_ACTIVITY = { perHolder: 2000, total: 2_000_000 };

/** What is counted of those who ask. */
export interface Counts {
  /** Limits of owners and their keys. */
  readonly limiter: RateLimiter;
  readonly keyUse: KeyUse;
  /** Makes limits of those who are known by their address only. */
  readonly newLimiter: () => AddressLimiter;
  /** What keys did; to be disposed of before its rows are. */
  readonly activity: ActivityLog;
  /** What goes with an owner to another relayer. */
  readonly ofOwners: readonly OwnerCounts[];
}

/**
 * Counts in this process alone, or with the owners that several relayers share.
 *
 * @param of `core`: what relayers share, where they do; `own`: what is this relayer's alone.
 */
export function countsOf(
  of: Pick<ActivityOptions, "key" | "logger" | "now"> & {
    readonly core: CoreDb;
    readonly own: CoreDb;
    readonly shared: { readonly store: StateStore } | undefined;
  },
): Counts {
  const { core, own, shared, key, logger, now } = of;
  if (shared === undefined) {
    const activity = new ActivityLog({ table: own.activity, key, logger, now });
    const newLimiter = () => new RateLimiter(now);
    return { limiter: newLimiter(), newLimiter, keyUse: own.keyUse, activity, ofOwners: [] };
  }
  const { activity: table, windows } = shared.store;
  const hmac = key.hmac("limits");
  const newLimiter = () => new SharedLimiter(windows, hmac);
  const activity = new ActivityLog({ table, key, logger, now, bounds: SHARED_ACTIVITY });
  const limits = new OwnerLimits(core.counts, now);
  const keyUse = new OwnerKeyUse(core.counts);
  return {
    limiter: limits.limiter,
    newLimiter,
    keyUse,
    activity,
    ofOwners: [limits, keyUse, activity],
  };
}
