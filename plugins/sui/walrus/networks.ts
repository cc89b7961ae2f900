import type { SuiNetwork } from "../../../src/wire/networks.ts";

/** Public upload relays, of the Walrus documentation. */
const RELAYS: Readonly<Partial<Record<SuiNetwork, string>>> = {
  mainnet: "https://upload-relay.mainnet.walrus.space",
  testnet: "https://upload-relay.testnet.walrus.space",
};

/**
 * Public aggregators that keep a cache, from Walrus' list of operators (docs.wal.app, "Public
 * aggregators and publishers"); a local network has its own.
 */
const AGGREGATORS: Readonly<Record<SuiNetwork, readonly string[]>> = {
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

/**
 * Archives of the Sui Foundation, which have the transactions that full nodes forget after some
 * weeks; nodes do not ask them (docs.sui.io, "Querying historical data with Archival Service").
 */
export const ARCHIVES: Readonly<Partial<Record<SuiNetwork, string>>> = {
  mainnet: "https://archive.mainnet.sui.io:443",
  testnet: "https://archive.testnet.sui.io:443",
};

/** The configured aggregators, else the network's public ones. */
export function aggregatorUrls(
  network: SuiNetwork,
  configured: readonly string[],
): readonly string[] {
  return configured.length > 0 ? configured : AGGREGATORS[network];
}

/** Who carries blobs to the storage nodes. */
export interface Route {
  readonly kind: "relay" | "publisher";
  readonly url: string;
}

/** The configured relay, else the configured publisher, else the network's relay, if it has one. */
export function findRoute(
  network: SuiNetwork,
  relayUrl: string,
  publisherUrl: string,
): Route | undefined {
  if (relayUrl !== "") return { kind: "relay", url: relayUrl };
  if (publisherUrl !== "") return { kind: "publisher", url: publisherUrl };
  const url = RELAYS[network];
  return url === undefined ? undefined : { kind: "relay", url };
}
