import type { SuiNetwork } from "../../../../src/wire/networks.ts";

/**
 * Archives of the Sui Foundation: full nodes forget transactions after some weeks, and do not ask
 * an archive by themselves (docs.sui.io, "Querying historical data with Archival Service").
 */
const ARCHIVES: Readonly<Partial<Record<SuiNetwork, string>>> = {
  mainnet: "https://archive.mainnet.sui.io:443",
  testnet: "https://archive.testnet.sui.io:443",
};

/** Where the transactions are that nodes have forgotten; a local node forgets none. */
export function archiveUrl(network: SuiNetwork): string | undefined {
  return ARCHIVES[network];
}
