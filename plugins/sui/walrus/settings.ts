import {
  type Field,
  httpUrl,
  integer,
  list,
  objectId,
  optional,
  type Permissions,
  type Secret,
  type Values,
} from "../../../src/interfaces/plugin.ts";
import {
  CHAIN_FIELDS,
  type ChainFields,
  WALLETS_FIELD,
} from "../../../src/interfaces/shared_fields.ts";
import { isObjectId } from "../../../src/wire/keys.ts";
import { rpcUrlOf } from "../../../src/wire/networks.ts";
import { netEntry } from "../../../src/wire/net_entry.ts";
import { aggregatorUrls, ARCHIVES, findRoute } from "./networks.ts";

/** A list of which each item is parsed by itself. */
function listOf(
  env: string,
  doc: string,
  parse: (item: string) => string,
): Field<readonly string[]> {
  const items = list(env, [], doc);
  return { ...items, parse: (raw: string) => items.parse(raw).map(parse) };
}

function address(item: string): string {
  if (!isObjectId(item)) throw new TypeError("must list addresses");
  return item.toLowerCase();
}

/** Settings of the plugin; docs/configuration.md describes each. */
export type WalrusFields = Pick<ChainFields, "network" | "rpcUrl" | "packageId"> & {
  /** Wallets that pay for blobs. */
  readonly privateKeys: Field<Secret | undefined>;
  /** Where blobs are read. */
  readonly aggregators: Field<readonly string[]>;
  /** Where blobs are stored. */
  readonly publisher: Field<string>;
  /** Relay that encodes uploads. */
  readonly relay: Field<string>;
  /** Epochs a blob is paid for. */
  readonly epochs: Field<number | undefined>;
  /** Epochs before its end at which a blob is renewed. */
  readonly renewBefore: Field<number>;
  /** Wait before a second aggregator is asked, milliseconds. */
  readonly raceAfterMs: Field<number>;
  /** Longest wait for an upload batch, milliseconds. */
  readonly batchMs: Field<number>;
  /** How long a downloaded blob is kept, seconds. */
  readonly keepSeconds: Field<number>;
  /** System object of Walrus on chain. */
  readonly systemId: Field<string | undefined>;
  /** Staking object of Walrus on chain. */
  readonly stakingId: Field<string | undefined>;
  /** Addresses, besides the owner and the wallets, whose blobs are restored. */
  readonly writers: Field<readonly string[]>;
};

/** Where the settings come from. */
export const WALRUS_FIELDS: WalrusFields = {
  network: CHAIN_FIELDS.network,
  rpcUrl: CHAIN_FIELDS.rpcUrl,
  packageId: CHAIN_FIELDS.packageId,
  privateKeys: WALLETS_FIELD,
  aggregators: {
    ...listOf(
      "SVC_WALRUS_AGGREGATOR_URLS",
      "Where blobs are read, comma-separated",
      httpUrl("SVC_WALRUS_AGGREGATOR_URLS", "", "").parse,
    ),
    fallbackText: "the network's",
  },
  publisher: {
    ...httpUrl("SVC_WALRUS_PUBLISHER_URL", "", "Where blobs are stored"),
    fallbackText: "none",
  },
  relay: {
    ...httpUrl("SVC_WALRUS_UPLOAD_RELAY_URL", "", "Relay that encodes uploads"),
    fallbackText: "the network's",
  },
  epochs: optional(
    integer("SVC_WALRUS_EPOCHS", 5, 1, 53, "Epochs a blob is paid for"),
    "3 on mainnet, else 5",
  ),
  renewBefore: integer(
    "SVC_WALRUS_RENEW_BEFORE_EPOCHS",
    1,
    0,
    52,
    "Epochs before its end at which a blob is renewed",
  ),
  raceAfterMs: integer(
    "SVC_WALRUS_RACE_AFTER_MS",
    150,
    0,
    60_000,
    "Wait before a second aggregator is asked, milliseconds",
  ),
  batchMs: integer(
    "SVC_BLOB_BATCH_MS",
    5000,
    0,
    60_000,
    "Longest wait for an upload batch, milliseconds",
  ),
  keepSeconds: integer(
    "SVC_BLOB_CACHE_TTL_SECONDS",
    1_209_600,
    0,
    31_536_000,
    "How long a downloaded blob is kept, seconds; 0 = not at all",
  ),
  systemId: {
    ...objectId("SVC_WALRUS_SYSTEM_ID", "System object of Walrus on chain"),
    fallbackText: "the network's",
  },
  stakingId: {
    ...objectId("SVC_WALRUS_STAKING_ID", "Staking object of Walrus on chain"),
    fallbackText: "the network's",
  },
  writers: listOf(
    "SVC_WALRUS_WRITERS",
    "Addresses, besides the owner and the wallets, whose blobs are restored",
    address,
  ),
};

/** Values of {@linkcode WalrusFields}. */
export type WalrusSettings = Values<WalrusFields>;

/** The node, the archive, the aggregators, and the relay or publisher. */
export function netPermissions(settings: WalrusSettings): NonNullable<Permissions["net"]> {
  const { network, aggregators, relay, publisher } = settings;
  const all = [
    rpcUrlOf(settings),
    ARCHIVES[network],
    ...aggregatorUrls(network, aggregators),
    findRoute(network, relay, publisher)?.url,
  ];
  return [...new Set(all.filter((url) => url !== undefined).map(netEntry))];
}
