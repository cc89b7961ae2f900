import { invalid } from "../invalid.ts";
import { type Env, readFields } from "../../interfaces/fields.ts";
import { CHAIN_FIELDS, WALLETS_FIELD } from "../../interfaces/shared_fields.ts";
import { readPrivateFile } from "../../storage/private_file.ts";
import { parsePrivateKey } from "../../wire/signing/private_key.ts";
import { resolvePath } from "../settings/values.ts";
import { parseFlags, PRIVATE_KEY, UsageError } from "./io.ts";
import { homeFolder } from "../../home_folder.ts";

export const CONTRACT_USAGE = `Usage: svc contract publish

  Compiles the contract, compares every function of the framework that it calls
  with the network's, and publishes it with the wallet of --key-file, or the
  first of SVC_SUI_PRIVATE_KEYS.

  --key-file <path>   file with the private key of the wallet that pays:
                      suiprivkey1… or hex
  --burn-upgrade-cap  makes the package immutable: nobody can ever change it
  --dry-run           compiles and compares only
  --json              machine output

  SVC_SUI_NETWORK and SVC_SUI_RPC_URL say where to.

Example: SVC_SUI_NETWORK=testnet svc contract publish --dry-run
`;

/** What follows `contract`; the settings' wallet pays where no key file is named. */
export type ContractOptions = ReturnType<typeof parseContractOptions>;

/**
 * Reads what follows `contract` on the command line.
 *
 * @throws {UsageError} for an unknown command or flag.
 */
export function parseContractOptions(args: readonly string[]) {
  const on = { type: "boolean", default: false } as const;
  const { values, positionals } = parseFlags(args, {
    "key-file": { type: "string" },
    "burn-upgrade-cap": on,
    "dry-run": on,
    json: on,
  });
  // The word is not repeated: it may be a private key.
  if (positionals[0] !== "publish") throw new UsageError("Unknown contract command");
  if (positionals.length > 1) throw new UsageError("publish takes flags only");
  return {
    keyFile: values["key-file"],
    burnUpgradeCap: values["burn-upgrade-cap"],
    dryRun: values["dry-run"],
    json: values.json,
  };
}

/** Where to: a network, and the address of a node, empty for the network's public one. */
export type ContractTarget = ReturnType<typeof contractTarget>;

/**
 * Network and node of the chain. Other settings are not read: before the first publication they are
 * incomplete.
 *
 * @throws {SvcError} `invalid_parameter`.
 */
export function contractTarget(env: Env) {
  const { network, rpcUrl } = CHAIN_FIELDS;
  const values = readFields({ network, rpcUrl }, env);
  return { network: values.network, rpcUrl: values.rpcUrl ?? "" };
}

/**
 * Seed of the wallet that pays, 32 bytes.
 *
 * @throws {SvcError} `invalid_parameter` when there is none, or it is no Ed25519 key.
 */
export async function walletSeed(
  { keyFile }: ContractOptions,
  env: Env,
  cwd: string,
): Promise<Uint8Array> {
  const home = homeFolder(env) || "~";
  if (keyFile !== undefined && PRIVATE_KEY.test(keyFile)) {
    throw invalid("--key-file takes the path of a file, not a key");
  }
  const path = keyFile === undefined ? undefined : resolvePath(keyFile, home, cwd);
  const text = path === undefined
    ? readFields({ wallets: WALLETS_FIELD }, env).wallets?.reveal()
    : (await readPrivateFile(path))?.text;
  if (text === undefined) {
    throw invalid(
      path === undefined
        ? "A wallet that pays is needed: --key-file, or SVC_SUI_PRIVATE_KEYS"
        : `There is no file ${path}`,
    );
  }
  const seed = parsePrivateKey(text.split(/[\r\n,]/, 1)[0]?.trim() ?? "");
  if (seed !== undefined) return seed;
  throw invalid(
    `${path ?? "SVC_SUI_PRIVATE_KEYS"} must begin with an Ed25519 private key: suiprivkey1… or hex`,
  );
}
