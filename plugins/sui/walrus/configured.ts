import { SvcError } from "../../../src/errors.ts";
import type { BlobStore } from "../../../src/interfaces/mod.ts";
import { type FileContext, requireFolder } from "../../../src/interfaces/plugin.ts";
import { rpcUrlOf } from "../../../src/wire/networks.ts";
import { openSui } from "../chain/sui_client.ts";
import { aggregatorUrls } from "./aggregator/public_aggregators.ts";
import { archiveUrl } from "./discovery/archives.ts";
import { walrusObjects } from "./networks.ts";
import { openWalrus } from "./open.ts";
import { routeOf } from "./route.ts";
import type { WalrusSettings } from "./settings.ts";

/** Rounds of upkeep: often enough for epochs of a day, rarely enough to cost nothing. */
const UPKEEP_MS = 3_600_000;

/**
 * The blob store for the configuration.
 *
 * @throws {SvcError} `invalid_parameter` with the setting that is missing.
 */
export function openConfigured(settings: WalrusSettings, context: FileContext): BlobStore {
  const { network, privateKeys, aggregators } = settings;
  if (privateKeys === undefined) {
    throw new SvcError("invalid_parameter", "walrus: set SVC_SUI_PRIVATE_KEYS");
  }
  const archive = archiveUrl(network);
  const readFrom = aggregatorUrls(network, aggregators);
  if (readFrom.length === 0) {
    throw new SvcError("invalid_parameter", "walrus: set SVC_WALRUS_AGGREGATOR_URLS");
  }
  return openWalrus({
    dataDir: requireFolder(context, "walrus"),
    sui: openSui({ network, url: rpcUrlOf(settings) }),
    archive: archive === undefined ? undefined : openSui({ network, url: archive }),
    objects: walrusObjects(network, settings.systemId, settings.stakingId),
    route: routeOf(network, settings.relay, settings.publisher),
    aggregatorUrls: readFrom,
    privateKeys: privateKeys.reveal(),
    packageId: settings.packageId,
    writers: settings.writers,
    epochs: settings.epochs ?? (network === "mainnet" ? 3 : 5),
    renewBefore: settings.renewBefore,
    raceAfterMs: settings.raceAfterMs,
    batchMs: settings.batchMs,
    keepMs: settings.keepSeconds * 1000,
    upkeepMs: UPKEEP_MS,
    log: (level, message) => context.log(level, message),
  });
}
