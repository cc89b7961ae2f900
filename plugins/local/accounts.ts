import type { AccountRegistry } from "../../src/interfaces/mod.ts";
import { SqliteAccounts } from "../shared/accounts/sqlite_accounts.ts";

/** Settings of {@linkcode localAccounts}. */
export interface LocalAccountsOptions {
  /** Folder of `core.db`. */
  readonly dataDir: string;
  /** Clock, milliseconds since the epoch. */
  readonly now?: () => number;
  /** Milliseconds between two looks for another process' changes; 500 when absent. */
  readonly pollMs?: number;
}

/** A registry that manages its accounts itself, and tells of other processes' changes. */
export type LocalAccounts = AccountRegistry & Required<Pick<AccountRegistry, "admin" | "watch">>;

/**
 * Accounts in one SQLite file, `core.db`, shared with the relayer's own tables and with other
 * processes, such as the account commands of the command line.
 *
 * @throws {SvcError} `storage_unavailable` when the file cannot be opened or is damaged.
 */
export function localAccounts({ dataDir, now, pollMs }: LocalAccountsOptions): LocalAccounts {
  return new SqliteAccounts(`${dataDir}/core.db`, now, pollMs);
}
