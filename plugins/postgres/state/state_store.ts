import type { StateStore } from "../../../src/interfaces/mod.ts";
import type { DatabaseOptions } from "../database.ts";
import { openJobStore } from "../jobs/job_store.ts";
import { DatabaseShare } from "../shared_database.ts";
import { PostgresActivity } from "./activity.ts";
import { PostgresExpiries } from "./expiries.ts";
import { PostgresLedger } from "./ledger.ts";
import { PostgresOwnerLeases } from "./owner_leases.ts";
import { PostgresWindows } from "./windows.ts";
import { PostgresWords } from "./words.ts";

/** Settings of {@linkcode postgresStateStore}. */
export interface PostgresStateStoreOptions extends DatabaseOptions {
  /** How long what this opening has is its own without being renewed, milliseconds; 2,000 when absent. */
  readonly leaseMs?: number;
}

/**
 * Everything that relayers must not lose, in tables of a PostgreSQL database, which several of them
 * may have open.
 *
 * @throws {SvcError} `storage_unavailable` when the database cannot be used; `invalid_parameter` when
 * a later version of the program wrote it.
 */
export async function postgresStateStore(
  options: PostgresStateStoreOptions,
): Promise<StateStore> {
  const { leaseMs = 2_000 } = options;
  const share = await DatabaseShare.open(options);
  // A pool of one: leases must not wait for large reads.
  const leases = await DatabaseShare.open({ ...options, connections: 1 }).catch(async (error) => {
    await share[Symbol.asyncDispose]();
    throw error;
  });
  try {
    const { jobs, holder } = await openJobStore({ ...options, leaseMs }, true);
    return {
      leavesDeleted: true,
      jobs,
      expiries: new PostgresExpiries(share),
      ledger: new PostgresLedger(share, holder),
      activity: new PostgresActivity(share),
      windows: new PostgresWindows(share),
      owners: new PostgresOwnerLeases(leases, holder, leaseMs),
      words: new PostgresWords(share, holder),
      connections: () => share.database.connections(),
      async [Symbol.asyncDispose]() {
        await jobs[Symbol.asyncDispose]();
        await leases[Symbol.asyncDispose]();
        await share[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await leases[Symbol.asyncDispose]();
    await share[Symbol.asyncDispose]();
    throw error;
  }
}
