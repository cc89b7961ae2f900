import type { SuiNetwork } from "../../../../src/wire/networks.ts";

/**
 * Public aggregators that keep a cache, from Walrus' list of operators (docs.wal.app, "Public
 * aggregators and publishers"); a local network has its own.
 */
const PUBLIC_AGGREGATORS: Readonly<Record<SuiNetwork, readonly string[]>> = {
  mainnet: [
    "https://aggregator.walrus-mainnet.walrus.space",
    "https://aggregator.suicore.com",
    "https://aggregator.walrus-mainnet.h2o-nodes.com",
  ],
  testnet: [
    "https://aggregator.walrus-testnet.walrus.space",
    "https://wal-aggregator-testnet.staketab.org",
  ],
  localnet: [],
};

/** The aggregators to read from: the configured ones, else the network's public ones. */
export function aggregatorUrls(
  network: SuiNetwork,
  configured: readonly string[],
): readonly string[] {
  return configured.length > 0 ? configured : PUBLIC_AGGREGATORS[network];
}
