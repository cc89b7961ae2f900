import {
  MAINNET_WALRUS_PACKAGE_CONFIG,
  TESTNET_WALRUS_PACKAGE_CONFIG,
  type WalrusPackageConfig,
} from "@mysten/walrus";
import { SvcError } from "../../../src/errors.ts";
import type { BlobStore } from "../../../src/interfaces/mod.ts";
import { type FileContext, requireFolder } from "../../../src/interfaces/plugin.ts";
import { rpcUrlOf, type SuiNetwork } from "../../../src/wire/networks.ts";
import { openSui } from "../chain/sui_client.ts";
import { aggregatorUrls, ARCHIVES, findRoute } from "./networks.ts";
import { WalrusBlobStore } from "./blob_store.ts";
import type { WalrusSettings } from "./settings.ts";

/** Time between rounds of upkeep: short beside an epoch of a day, and rounds are cheap. */
const UPKEEP_MS = 3_600_000;

const OBJECTS: Readonly<Partial<Record<SuiNetwork, WalrusPackageConfig>>> = {
  mainnet: MAINNET_WALRUS_PACKAGE_CONFIG,
  testnet: TESTNET_WALRUS_PACKAGE_CONFIG,
};

/**
 * The blob store for the configuration.
 *
 * @throws {SvcError} `invalid_parameter` that names the setting that is missing.
 */
export function openConfigured(settings: WalrusSettings, context: FileContext): BlobStore {
  const { network, privateKeys, aggregators } = settings;
  if (privateKeys === undefined) throw missing("SVC_SUI_PRIVATE_KEYS");
  const archive = ARCHIVES[network];
  const readFrom = aggregatorUrls(network, aggregators);
  if (readFrom.length === 0) throw missing("SVC_WALRUS_AGGREGATOR_URLS");
  const route = findRoute(network, settings.relay, settings.publisher);
  if (route === undefined) {
    throw missing(`SVC_WALRUS_UPLOAD_RELAY_URL or SVC_WALRUS_PUBLISHER_URL on ${network}`);
  }
  return new WalrusBlobStore({
    ...settings,
    dataDir: requireFolder(context, "walrus"),
    sui: openSui({ network, url: rpcUrlOf(settings) }),
    archive: archive === undefined ? undefined : openSui({ network, url: archive }),
    objects: objectsOf(settings),
    route,
    aggregatorUrls: readFrom,
    privateKeys: privateKeys.reveal(),
    epochs: settings.epochs ?? (network === "mainnet" ? 3 : 5),
    keepMs: settings.keepSeconds * 1000,
    upkeepMs: UPKEEP_MS,
    log: (level, message) => context.log(level, message),
  });
}

function objectsOf({ network, systemId, stakingId }: WalrusSettings): WalrusPackageConfig {
  const known = OBJECTS[network];
  const systemObjectId = systemId ?? known?.systemObjectId;
  const stakingPoolId = stakingId ?? known?.stakingPoolId;
  if (systemObjectId !== undefined && stakingPoolId !== undefined) {
    return { systemObjectId, stakingPoolId };
  }
  throw missing(`SVC_WALRUS_SYSTEM_ID and SVC_WALRUS_STAKING_ID on ${network}`);
}

function missing(settings: string): SvcError {
  return new SvcError("invalid_parameter", `walrus: set ${settings}`);
}
