import type { AccountRegistry } from "../../src/interfaces/mod.ts";
import { SqliteAccounts } from "../shared/accounts/sqlite_accounts.ts";

/**
 * An account registry without persistence. Hex is taken in either case and answered in lower case.
 *
 * @param now Clock, milliseconds since the epoch.
 */
export function memoryAccounts(now: () => number = Date.now): AccountRegistry {
  return new SqliteAccounts(":memory:", now);
}
