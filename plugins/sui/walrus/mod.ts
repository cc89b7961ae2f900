/**
 * Blobs on Walrus, for the role `blobStore`. See docs/walrus.md.
 *
 * @module
 */
import {
  type BackendSource,
  definePlugin,
  type Field,
  httpUrl,
  integer,
  list,
  type Permissions,
  type Plugin,
  pluginSource,
  requireFolder,
  type Secret,
  secret,
  type Values,
} from "../../../src/interfaces/plugin.ts";
import { SvcError } from "../../../src/errors.ts";
import {
  CHAIN_FIELDS,
  type ChainFields,
  objectId,
  rpcUrlOf,
  type SuiNetwork,
} from "../chain/fields.ts";
import { openSui } from "../chain/sui_client.ts";
import { isObjectId } from "../../../src/wire/keys.ts";
import { netEntry } from "../../shared/net_entry.ts";
import { aggregatorUrls } from "./aggregator/public_aggregators.ts";
import { archiveUrl } from "./discovery/archives.ts";
import { relayUrlOf, routeOf, walrusObjects } from "./networks.ts";
import { openWalrus } from "./open.ts";
import { wasmFolder } from "./wasm_folder.ts";

/** Settings of the plugin. */
export type WalrusFields = ChainFields & {
  /** Wallets that pay. */
  readonly privateKeys: Field<Secret | undefined>;
  /** Aggregators. */
  readonly aggregators: Field<readonly string[]>;
  /** Publisher. */
  readonly publisher: Field<string>;
  /** Upload relay. */
  readonly relay: Field<string>;
  /** Epochs a blob is paid for. */
  readonly epochs: Field<number | undefined>;
  /** Epochs before its end at which a blob is renewed. */
  readonly renewBefore: Field<number>;
  /** Wait before a second aggregator is asked, milliseconds. */
  readonly raceAfterMs: Field<number>;
  /** Wait for company, milliseconds. */
  readonly batchMs: Field<number>;
  /** How long bytes are kept, seconds. */
  readonly keepSeconds: Field<number>;
  /** System object. */
  readonly systemId: Field<string | undefined>;
  /** Staking object. */
  readonly stakingId: Field<string | undefined>;
  /** Whose blobs are taken, besides the owner's and the wallets'. */
  readonly writers: Field<readonly string[]>;
};

const DAY_MS = 86_400_000;

/** Rounds of upkeep: often enough for epochs of a day, rarely enough to cost nothing. */
const UPKEEP_MS = DAY_MS / 24;

const epochs: Field<number | undefined> = {
  ...integer("SVC_WALRUS_EPOCHS", 5, 1, 53, "`walrus`: epochs a blob is paid for"),
  fallback: undefined,
  fallbackText: "3 on mainnet, else 5",
};

const urls = (env: string, doc: string): Field<readonly string[]> => {
  const [items, one] = [list(env, [], doc), httpUrl(env, "", doc)];
  return {
    ...items,
    fallbackText: "the network's",
    parse: (raw) => items.parse(raw).map(one.parse),
  };
};

const addresses = (env: string, doc: string): Field<readonly string[]> => {
  const field = list(env, [], doc);
  return {
    ...field,
    fallbackText: "none",
    parse(raw) {
      const items = field.parse(raw);
      if (!items.every(isObjectId)) throw new TypeError("must list addresses");
      return items.map((item) => item.toLowerCase());
    },
  };
};

function epochsOf(network: SuiNetwork, configured: number | undefined): number {
  return configured ?? (network === "mainnet" ? 3 : 5);
}

/** The plugin `walrus` for the role `blobStore`. */
const plugin: Plugin<WalrusFields> = definePlugin({
  name: "walrus",
  fields: {
    ...CHAIN_FIELDS,
    privateKeys: secret(
      "SVC_SUI_PRIVATE_KEYS",
      "`walrus`: wallets that pay, comma-separated",
    ),
    aggregators: urls(
      "SVC_WALRUS_AGGREGATOR_URLS",
      "`walrus`: where blobs are read, comma-separated",
    ),
    publisher: {
      ...httpUrl("SVC_WALRUS_PUBLISHER_URL", "", "`walrus`: where blobs are stored"),
      fallbackText: "none",
    },
    relay: {
      ...httpUrl("SVC_WALRUS_UPLOAD_RELAY_URL", "", "`walrus`: relay that encodes uploads"),
      fallbackText: "the network's",
    },
    epochs,
    renewBefore: integer(
      "SVC_WALRUS_RENEW_BEFORE_EPOCHS",
      1,
      0,
      52,
      "`walrus`: epochs before its end at which a blob is renewed",
    ),
    raceAfterMs: integer(
      "SVC_WALRUS_RACE_AFTER_MS",
      150,
      0,
      60_000,
      "`walrus`: wait before a second aggregator is asked, milliseconds",
    ),
    batchMs: integer(
      "SVC_BLOB_BATCH_MS",
      5000,
      0,
      60_000,
      "`walrus`: longest wait for an upload batch, milliseconds",
    ),
    keepSeconds: integer(
      "SVC_BLOB_CACHE_TTL_SECONDS",
      1_209_600,
      0,
      31_536_000,
      "`walrus`: how long a downloaded blob is kept, seconds; 0 = not at all",
    ),
    systemId: {
      ...objectId("SVC_WALRUS_SYSTEM_ID", "`walrus`: its system object on chain"),
      fallbackText: "the network's",
    },
    stakingId: {
      ...objectId("SVC_WALRUS_STAKING_ID", "`walrus`: its staking object on chain"),
      fallbackText: "the network's",
    },
    writers: addresses(
      "SVC_WALRUS_WRITERS",
      "`walrus`: addresses, besides the owner and the wallets, whose blobs are restored",
    ),
  },
  permissions(_role, settings, dataDir): Permissions {
    const { network, aggregators, relay, publisher } = settings;
    const archive = archiveUrl(network);
    const all = [
      rpcUrlOf(settings),
      ...(archive === undefined ? [] : [archive]),
      ...aggregatorUrls(network, aggregators),
      ...[relay, publisher, relayUrlOf(network)].filter((url) => url !== "").slice(0, 1),
    ];
    return {
      net: [...new Set(all.map(netEntry))],
      read: [dataDir, wasmFolder()],
      write: [dataDir],
    };
  },
  roles: {
    blobStore(settings, context) {
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
        epochs: epochsOf(network, settings.epochs),
        renewBefore: settings.renewBefore,
        raceAfterMs: settings.raceAfterMs,
        batchMs: settings.batchMs,
        keepMs: settings.keepSeconds * 1000,
        upkeepMs: UPKEEP_MS,
        log: (level, message) => context.log(level, message),
      });
    },
  },
});

export default plugin;

/** The blob store for `createRelayer`. */
export function walrus(settings: Partial<Values<WalrusFields>>): BackendSource {
  return pluginSource(plugin, settings);
}
