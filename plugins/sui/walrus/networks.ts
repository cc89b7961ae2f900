import { MAINNET_WALRUS_PACKAGE_CONFIG, TESTNET_WALRUS_PACKAGE_CONFIG } from "@mysten/walrus";
import { SvcError } from "../../../src/errors.ts";
import type { SuiNetwork } from "../../../src/wire/networks.ts";

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
