import { invalid } from "../invalid.ts";
import { CoreDb } from "../../storage/core_db.ts";
import type { Env } from "../../interfaces/fields.ts";
import type { AccountAdmin, AccountRegistry } from "../../interfaces/mod.ts";
import { LATER } from "../../later.ts";
import { silentLogger } from "../../log.ts";
import { loadPlugin, openBackend } from "../plugins.ts";
import { ensurePrivateFolder, readPrivateFile } from "../../storage/private_file.ts";
import { parsePrivateKey } from "../../wire/signing/private_key.ts";
import { readSettings, type Settings } from "../settings/mod.ts";
import { EMPTY } from "../settings/plugin_settings.ts";
import { inSharedCore } from "./shared_core.ts";

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

/** Accounts on chain, and the wallet that changes its own one. */
interface ChainAccounts extends AccountRegistry {
  /** Address of the wallet; absent when accounts are only read. */
  readonly address: string | undefined;
  /** Reads of any owner, changes of the wallet's own account. */
  readonly admin: AccountAdmin;
}

interface WalletModule {
  readonly WalletAccounts: new (options: {
    readonly network: Settings["suiNetwork"];
    readonly rpcUrl: string;
    readonly packageId: string;
    readonly registryId: string;
    readonly seed: Uint8Array | undefined;
  }) => ChainAccounts;
}

/** What to do where the relayer cannot change an account by itself. */
const ELSEWHERE =
  "SVC_ACCOUNTS=sui: accounts are on chain, and their owner's wallet changes them. Use the " +
  "dashboard, or name a file with the wallet's private key: --wallet-file";

async function seedOf(path: string): Promise<Uint8Array> {
  const file = await readPrivateFile(path);
  if (file === undefined) throw invalid("--wallet-file: no such file");
  const seed = parsePrivateKey(file.text.trim());
  if (seed === undefined) {
    throw invalid("--wallet-file must hold an Ed25519 key: suiprivkey1… or 64 hex characters");
  }
  return seed;
}

/** The package id that relayers of one store share; `undefined` where this one shares none. */
async function sharedPackageId(settings: Settings, env: Env): Promise<string | undefined> {
  if (settings.store === EMPTY.store) return undefined;
  return await inSharedCore(settings, env, (core) => core.packageId());
}

/**
 * Opens accounts on chain for a command.
 *
 * @param walletFile File of the owner's private key; without one accounts are only read.
 * @param changes Whether the command changes an account.
 * @throws {SvcError} `invalid_parameter` when the wallet is missing or cannot be read.
 */
async function openChainAccounts(
  { suiNetwork, suiRpcUrl, packageId, registryId }: Settings,
  walletFile: string | undefined,
  changes: boolean,
): Promise<ChainAccounts> {
  if (changes && walletFile === undefined) throw invalid(ELSEWHERE);
  const seed = walletFile === undefined ? undefined : await seedOf(walletFile);
  const wallet: WalletModule = await import(
    `../../../plugins/sui/accounts/wallet.ts${LATER}`
  );
  return new wallet.WalletAccounts({
    network: suiNetwork,
    rpcUrl: suiRpcUrl ?? "",
    packageId: packageId ?? "",
    registryId: registryId ?? "",
    seed,
  });
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
  if (problems.length > 0) throw invalid(problems.join("\n"));
  const { accounts: name, dataDir } = settings;
  if (name === "sui") {
    const accounts = await openChainAccounts(settings, walletFile, changes);
    const { admin, address: wallet } = accounts;
    const packageId = settings.packageId ?? "";
    const close = () => accounts[Symbol.asyncDispose]();
    return { settings, accounts, admin, packageId, wallet, [Symbol.asyncDispose]: close };
  }
  if (walletFile !== undefined) {
    throw invalid("--wallet-file is for accounts on chain");
  }
  const plugin = await loadPlugin("accounts", name);
  await ensurePrivateFolder(dataDir);
  await using stack = new AsyncDisposableStack();
  const core = stack.use(new CoreDb(`${dataDir}/core.db`));
  core.requireHere();
  const accounts = stack.use(
    await openBackend("accounts", { role: "accounts", name, plugin }, env, {
      dataDir,
      log: (level, message) => silentLogger[level](message),
    }),
  );
  const { admin } = accounts;
  if (admin === undefined) {
    throw invalid(`SVC_ACCOUNTS=${name} manages its accounts elsewhere`);
  }
  const packageId = settings.packageId ?? await sharedPackageId(settings, env) ?? core.packageId();
  const kept = stack.move();
  return { settings, accounts, admin, packageId, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
