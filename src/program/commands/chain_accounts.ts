import { SvcError } from "../../errors.ts";
import type { AccountAdmin, AccountRegistry } from "../../interfaces/mod.ts";
import { PROGRAM_ROOT } from "../plugins.ts";
import { readPrivateFile } from "../../storage/private_file.ts";
import { parsePrivateKey } from "../../wire/signing/private_key.ts";
import type { Settings } from "../settings/mod.ts";

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

/** A computed specifier, so that other commands do not download the chain's packages. */
const WALLET = new URL("plugins/sui/accounts/wallet.ts", PROGRAM_ROOT).href;

/** What to do where the relayer cannot change an account by itself. */
const ELSEWHERE =
  "SVC_ACCOUNTS=sui: accounts are on chain, and their owner's wallet changes them. Use the " +
  "dashboard, or name a file with the wallet's private key: --wallet-file";

async function seedOf(path: string): Promise<Uint8Array> {
  const file = await readPrivateFile(path);
  if (file === undefined) throw new SvcError("invalid_parameter", "--wallet-file: no such file");
  const seed = parsePrivateKey(file.text.trim());
  if (seed === undefined) {
    throw new SvcError(
      "invalid_parameter",
      "--wallet-file must hold an Ed25519 key: suiprivkey1… or 64 hex characters",
    );
  }
  return seed;
}

/**
 * Opens accounts on chain for a command.
 *
 * @param walletFile File of the owner's private key; without one accounts are only read.
 * @param changes Whether the command changes an account.
 * @throws {SvcError} `invalid_parameter` when the wallet is missing or cannot be read.
 */
export async function openChainAccounts(
  { suiNetwork, suiRpcUrl, packageId, registryId }: Settings,
  walletFile: string | undefined,
  changes: boolean,
): Promise<ChainAccounts> {
  if (changes && walletFile === undefined) throw new SvcError("invalid_parameter", ELSEWHERE);
  const seed = walletFile === undefined ? undefined : await seedOf(walletFile);
  const { WalletAccounts } = await import(WALLET) as WalletModule;
  return new WalletAccounts({
    network: suiNetwork,
    rpcUrl: suiRpcUrl ?? "",
    packageId: packageId ?? "",
    registryId: registryId ?? "",
    seed,
  });
}
