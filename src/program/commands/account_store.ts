import { CoreDb } from "../../storage/core_db.ts";
import { SvcError } from "../../errors.ts";
import type { Env } from "../../interfaces/fields.ts";
import type { AccountAdmin, AccountRegistry } from "../../interfaces/mod.ts";
import { silentLogger } from "../../log.ts";
import { loadPlugin, openBackend } from "../plugins.ts";
import { ensurePrivateFolder } from "../../storage/private_file.ts";
import { readSettings, type Settings } from "../settings/mod.ts";
import { openChainAccounts } from "./chain_accounts.ts";

/** The accounts of a data directory, whether its relayer runs or not. */
export interface AccountStore extends AsyncDisposable {
  readonly settings: Settings;
  readonly accounts: AccountRegistry;
  readonly admin: AccountAdmin;
  readonly packageId: string;
  /** Address of the owner's wallet, where accounts are on chain. */
  readonly wallet?: string | undefined;
}

interface AccountAccess {
  /** File of the owner's private key, where accounts are on chain. */
  readonly walletFile?: string | undefined;
  /** Whether it changes them; it does when absent. */
  readonly changes?: boolean;
}

/**
 * Opens core.db, or a chain, and nothing else of the data directory: the job table belongs to the one process
 * that runs.
 *
 * @param cwd What relative paths are relative to.
 * @throws {SvcError} `invalid_parameter` when the settings are wrong or accounts are managed
 * elsewhere.
 */
export async function openAccounts(
  env: Env,
  cwd: string,
  { walletFile, changes = true }: AccountAccess = {},
): Promise<AccountStore> {
  const { settings, problems } = readSettings(env, { cwd });
  if (problems.length > 0) throw new SvcError("invalid_parameter", problems.join("\n"));
  const { accounts: name, dataDir } = settings;
  if (name === "sui") {
    const accounts = await openChainAccounts(settings, walletFile, changes);
    const { admin, address: wallet } = accounts;
    const packageId = settings.packageId ?? "";
    const close = () => accounts[Symbol.asyncDispose]();
    return { settings, accounts, admin, packageId, wallet, [Symbol.asyncDispose]: close };
  }
  if (walletFile !== undefined) {
    throw new SvcError("invalid_parameter", "--wallet-file is for accounts on chain");
  }
  const plugin = await loadPlugin("accounts", name);
  await ensurePrivateFolder(dataDir);
  await using stack = new AsyncDisposableStack();
  const core = stack.use(new CoreDb(`${dataDir}/core.db`));
  const accounts = stack.use(
    await openBackend("accounts", { role: "accounts", name, plugin }, env, {
      dataDir,
      log: (level, message) => silentLogger[level](message),
    }),
  );
  const { admin } = accounts;
  if (admin === undefined) {
    throw new SvcError("invalid_parameter", `SVC_ACCOUNTS=${name} manages its accounts elsewhere`);
  }
  const packageId = settings.packageId ?? core.packageId();
  const kept = stack.move();
  return { settings, accounts, admin, packageId, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
