import { choice, type Field, httpUrl, optionalText } from "../../../src/interfaces/plugin.ts";
import { isObjectId } from "../../../src/wire/keys.ts";
import { NODES, type SuiNetwork } from "../../../src/wire/networks.ts";

export type { SuiNetwork };

const OPTIONAL_ID = (env: string, doc: string): Field<string | undefined> => ({
  ...optionalText(env, doc),
  parse(raw) {
    if (!isObjectId(raw)) throw new TypeError("must be 0x and 64 hex characters");
    return raw.toLowerCase();
  },
});

/** An object id or address that may be absent; lower case. */
export const objectId = OPTIONAL_ID;

/** Settings of a chain. */
export type ChainFields = {
  /** Its name. */
  readonly network: Field<SuiNetwork>;
  /** Address of a node; empty for the network's public one. */
  readonly rpcUrl: Field<string>;
  /** First version of the package. */
  readonly packageId: Field<string | undefined>;
  /** Its registry. */
  readonly registryId: Field<string | undefined>;
};

/** Where the chain is, and what is ours on it; the same variables for every plugin that uses it. */
export const CHAIN_FIELDS: ChainFields = {
  network: choice(
    "SVC_SUI_NETWORK",
    "localnet",
    ["mainnet", "testnet", "localnet"],
    "Chain, shown in /config",
  ) as Field<SuiNetwork>,
  rpcUrl: {
    ...httpUrl("SVC_SUI_RPC_URL", "", "Node of the chain (gRPC)"),
    fallbackText: "the network's",
  } as Field<string>,
  packageId: OPTIONAL_ID("SVC_PACKAGE_ID", "Package on chain"),
  registryId: OPTIONAL_ID("SVC_REGISTRY_ID", "Registry on chain"),
};

/** Address of the node: the configured one, else the network's public one. */
export function rpcUrlOf({ network, rpcUrl }: { network: SuiNetwork; rpcUrl: string }): string {
  return rpcUrl === "" ? NODES[network] : rpcUrl;
}
