import { headerSecret, httpUrl, integer, list, secret } from "../../interfaces/fields.ts";
import { keyServers } from "./json_parsers.ts";
import { checked, objectId, optional } from "./parsers.ts";
import { isObjectId } from "../../wire/keys.ts";

const urls = (env: string, doc: string) => {
  const [items, one] = [list(env, [], doc), httpUrl(env, "", doc)];
  return { ...items, parse: (raw: string) => items.parse(raw).map(one.parse) };
};

/** Settings that only networked plugins read; the plugin itself says what is required. */
export const OUTSIDE_PLUGINS = {
  suiPrivateKeys: secret("SVC_SUI_PRIVATE_KEYS", "`walrus`: wallets that pay, comma-separated"),
  sealServerConfigs: keyServers(
    "SVC_SEAL_SERVER_CONFIGS",
    "`seal`: JSON list of `{objectId, weight?, url?, aggregatorUrl?, apiKeyName?, apiKey?}`",
  ),
  sealThreshold: optional(
    integer("SVC_SEAL_THRESHOLD", 2, 1, 255, "`seal`: weight needed to open a key"),
    "min(2, total weight)",
  ),
  sealTimeoutMs: integer(
    "SVC_SEAL_KEY_SERVER_TIMEOUT_MS",
    25_000,
    100,
    120_000,
    "`seal`: longest wait for a key server, milliseconds",
  ),
  walrusAggregatorUrls: {
    ...urls("SVC_WALRUS_AGGREGATOR_URLS", "`walrus`: where blobs are read, comma-separated"),
    fallbackText: "the network's",
  },
  walrusPublisherUrl: optional(
    httpUrl("SVC_WALRUS_PUBLISHER_URL", "", "`walrus`: where blobs are stored"),
    "the network's",
  ),
  walrusUploadRelayUrl: optional(
    httpUrl("SVC_WALRUS_UPLOAD_RELAY_URL", "", "`walrus`: relay that encodes uploads"),
    "the network's",
  ),
  walrusEpochs: optional(
    integer("SVC_WALRUS_EPOCHS", 5, 1, 53, "`walrus`: epochs a blob is paid for"),
    "3 on mainnet, else 5",
  ),
  walrusRenewBeforeEpochs: integer(
    "SVC_WALRUS_RENEW_BEFORE_EPOCHS",
    1,
    0,
    52,
    "`walrus`: epochs before its end at which a blob is renewed",
  ),
  walrusRaceAfterMs: integer(
    "SVC_WALRUS_RACE_AFTER_MS",
    150,
    0,
    60_000,
    "`walrus`: wait before a second aggregator is asked, milliseconds",
  ),
  blobBatchMs: integer(
    "SVC_BLOB_BATCH_MS",
    5000,
    0,
    60_000,
    "`walrus`: longest wait for an upload batch, milliseconds",
  ),
  blobCacheTtlSeconds: integer(
    "SVC_BLOB_CACHE_TTL_SECONDS",
    1_209_600,
    0,
    31_536_000,
    "`walrus`: how long a downloaded blob is kept, seconds; 0 = not at all",
  ),
  walrusSystemId: {
    ...objectId("SVC_WALRUS_SYSTEM_ID", "`walrus`: its system object on chain"),
    fallbackText: "the network's",
  },
  walrusStakingId: {
    ...objectId("SVC_WALRUS_STAKING_ID", "`walrus`: its staking object on chain"),
    fallbackText: "the network's",
  },
  walrusWriters: {
    ...checked(
      list(
        "SVC_WALRUS_WRITERS",
        [],
        "`walrus`: addresses, besides the owner and the wallets, whose blobs are restored",
      ),
      (items) => items.every(isObjectId) ? undefined : "must list addresses",
    ),
    fallbackText: "none",
  },
  enokiApiKey: headerSecret("SVC_ENOKI_API_KEY", "`enoki`: API key"),
  sponsorPrivateKey: secret("SVC_SPONSOR_PRIVATE_KEY", "`gas-station`: wallet that pays for gas"),
};
