import { MAINNET_WALRUS_PACKAGE_CONFIG, TESTNET_WALRUS_PACKAGE_CONFIG } from "@mysten/walrus";
import { SvcError } from "../../../src/errors.ts";
import type { SuiNetwork } from "../chain/fields.ts";

/** Where Walrus is on the chain. */
export interface WalrusObjects {
  /** Its system object. */
  readonly systemObjectId: string;
  /** Its staking object. */
  readonly stakingPoolId: string;
}

const OBJECTS: Readonly<Partial<Record<SuiNetwork, WalrusObjects>>> = {
  mainnet: MAINNET_WALRUS_PACKAGE_CONFIG,
  testnet: TESTNET_WALRUS_PACKAGE_CONFIG,
};

/** Public upload relays, of the Walrus documentation. */
const RELAYS: Readonly<Partial<Record<SuiNetwork, string>>> = {
  mainnet: "https://upload-relay.mainnet.walrus.space",
  testnet: "https://upload-relay.testnet.walrus.space",
};

/**
 * The configured objects of Walrus, else the network's.
 * @throws {SvcError} `invalid_parameter` where neither is known.
 */
export function walrusObjects(
  network: SuiNetwork,
  systemId: string | undefined,
  stakingId: string | undefined,
): WalrusObjects {
  const known = OBJECTS[network];
  const systemObjectId = systemId ?? known?.systemObjectId;
  const stakingPoolId = stakingId ?? known?.stakingPoolId;
  if (systemObjectId === undefined || stakingPoolId === undefined) {
    throw new SvcError(
      "invalid_parameter",
      `walrus: set SVC_WALRUS_SYSTEM_ID and SVC_WALRUS_STAKING_ID on ${network}`,
    );
  }
  return { systemObjectId, stakingPoolId };
}

/** The network's public upload relay; empty where it has none. */
export function relayUrlOf(network: SuiNetwork): string {
  return RELAYS[network] ?? "";
}

/** How blobs reach the storage nodes. */
export type Route =
  | { readonly kind: "relay"; readonly url: string }
  | { readonly kind: "publisher"; readonly url: string };

/**
 * The configured relay, else the configured publisher, else the network's relay.
 * @throws {SvcError} `invalid_parameter` where there is none.
 */
export function routeOf(network: SuiNetwork, relayUrl: string, publisherUrl: string): Route {
  if (relayUrl !== "") return { kind: "relay", url: relayUrl };
  if (publisherUrl !== "") return { kind: "publisher", url: publisherUrl };
  const url = RELAYS[network];
  if (url !== undefined) return { kind: "relay", url };
  throw new SvcError(
    "invalid_parameter",
    `walrus: set SVC_WALRUS_UPLOAD_RELAY_URL or SVC_WALRUS_PUBLISHER_URL on ${network}`,
  );
}
