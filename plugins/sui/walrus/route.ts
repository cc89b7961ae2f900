import { SvcError } from "../../../src/errors.ts";
import type { SuiNetwork } from "../../../src/wire/networks.ts";

/** Public upload relays, of the Walrus documentation. */
const RELAYS: Readonly<Partial<Record<SuiNetwork, string>>> = {
  mainnet: "https://upload-relay.mainnet.walrus.space",
  testnet: "https://upload-relay.testnet.walrus.space",
};

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
