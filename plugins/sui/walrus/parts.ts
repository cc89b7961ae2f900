import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { WalrusClient, type WalrusPackageConfig } from "@mysten/walrus";
import { Aggregators } from "./aggregator/aggregators.ts";
import { Catalogue } from "./catalogue.ts";
import { type Clock, SYSTEM_CLOCK } from "./clock.ts";
import { ChainReads } from "./discovery/chain_reads.ts";
import { DISCOVERY_SCHEMA } from "./discovery/found_rows.ts";
import { Listing } from "./discovery/listing.ts";
import { Discovery } from "./discovery/look.ts";
import { BlobBytes } from "./discovery/proven_bytes.ts";
import type { Route } from "./networks.ts";
import type { WalrusSettings } from "./settings.ts";
import { UPKEEP_SCHEMA } from "./upkeep/merge.ts";
import { MoveTeller } from "./upkeep/moves.ts";
import { Upkeep } from "./upkeep/upkeep.ts";
import { boundedHttp } from "./upload/bounded_http.ts";
import { Chain } from "./upload/chain.ts";
import { Encoder } from "./upload/encoder.ts";
import { ItemRows } from "./upload/item_rows.ts";
import { BlobFiles } from "./upload/upload_bytes.ts";
import { UPLOAD_SCHEMA, UploadRows } from "./upload/upload_rows.ts";
import { Uploads } from "./upload/uploads.ts";
import { parseWallets, Wallets } from "./upload/wallets.ts";
import { type Ground, StateReader } from "./walrus_state.ts";

/** Settings of a store. */
export interface WalrusOptions
  extends
    Pick<WalrusSettings, "packageId" | "writers" | "renewBefore" | "raceAfterMs" | "batchMs"> {
  /** Folder of `walrus.db` and of blobs on their way. */
  readonly dataDir: string;
  readonly sui: SuiGrpcClient;
  /** Client of an archive, which has the transactions that the node has forgotten. */
  readonly archive?: SuiGrpcClient | undefined;
  /** Where Walrus is on the chain. */
  readonly objects: WalrusPackageConfig;
  readonly route: Route;
  readonly aggregatorUrls: readonly string[];
  /** Private keys of the wallets that pay, comma-separated. */
  readonly privateKeys: string;
  /** Epochs a blob is paid for. */
  readonly epochs: number;
  /** How long bytes are kept here once they are stored or read, in milliseconds. */
  readonly keepMs: number;
  /** Milliseconds between rounds of upkeep; none when absent. */
  readonly upkeepMs?: number;
  /** Longest wait of a `put`, in milliseconds. */
  readonly patienceMs?: number;
  readonly clock?: Clock;
  /** Called between every two steps of an upload, for tests. */
  readonly failpoint?: (name: string) => void;
  /** Takes notes for the operator, which contain no texts, keys or addresses. */
  readonly log?: Ground["log"];
}

/** Most that an upload relay is paid for one blob: 0.01 SUI, in MIST. */
const MAX_TIP = 10_000_000;

/** Longest exchange in milliseconds: a relay encodes for 4 s and stores at hundreds of nodes first. */
const TRANSFER_MS = 180_000;

/** Most bytes of an answer; the certificate of a thousand nodes has some 10 kB. */
const MAX_ANSWER = 262_144;

function clientOf(
  { sui, objects, route }: WalrusOptions,
  http: typeof fetch,
): WalrusClient {
  const sendTip = { max: MAX_TIP };
  const relay = { uploadRelay: { host: route.url, fetch: http, timeout: TRANSFER_MS, sendTip } };
  return new WalrusClient({
    packageConfig: objects,
    suiClient: sui,
    ...(route.kind === "publisher" ? {} : relay),
  });
}

/** The parts of a Walrus blob store. */
export type WalrusParts = ReturnType<typeof openParts>;

/**
 * Opens the parts of a store, which contact nobody before there is something to do.
 *
 * @throws {SvcError} `invalid_parameter` for malformed keys, `storage_unavailable` when
 * `walrus.db` cannot be opened.
 */
export function openParts(options: WalrusOptions) {
  const { dataDir, route, sui, clock = SYSTEM_CLOCK, log = () => {}, failpoint = () => {} } =
    options;
  const now = () => clock.now();
  const wallets = new Wallets(parseWallets(options.privateKeys));
  const closing = new AbortController();
  const http = boundedHttp({
    part: route.kind,
    maxBytes: MAX_ANSWER,
    timeoutMs: TRANSFER_MS,
    signal: closing.signal,
    now,
  });
  const walrus = clientOf(options, http);
  const reader = new StateReader(walrus, now);
  const schema = [UPLOAD_SCHEMA, DISCOVERY_SCHEMA, UPKEEP_SCHEMA];
  const catalogue = new Catalogue({ dataDir, schema });
  const { database } = catalogue;
  const ground: Ground = { catalogue, state: () => reader.state(), now, log };
  const encoder = new Encoder(clock);
  const items = new ItemRows(database);
  const chain = new ChainReads(sui, () => walrus.getBlobType(), options.archive);
  const uploads = new Uploads({
    ...options,
    ...ground,
    items,
    uploads: new UploadRows(database),
    files: new BlobFiles(dataDir),
    encoder,
    wallets,
    walrus,
    chain: new Chain({ ...options, ...ground, walrus, reads: chain }),
    publisher: route.kind === "publisher" ? { url: route.url, http } : undefined,
    closing,
    clock,
    failpoint,
  });
  const aggregators = new Aggregators({ ...options, urls: options.aggregatorUrls, clock });
  const blobIdOf = async (blob: Uint8Array) => {
    const { shards } = await reader.state();
    return (await encoder.encode({ shards, blob })).blobId;
  };
  const bytes = new BlobBytes({ ...options, ...ground, aggregators, blobIdOf });
  const discovery = new Discovery({ ...options, ...ground, chain, wallets: wallets.addresses });
  const listing = new Listing({ ...ground, discovery, bytes });
  const moves = new MoveTeller(catalogue, () => log("warn", "walrus: moves are told again later"));
  const epochStart = () => reader.epochStart();
  const found = { bytes, discovery, listing, moves };
  const upkeep = new Upkeep({ ...options, ...ground, ...found, writer: uploads, epochStart });
  const { upkeepMs = 0 } = options;
  const startOf = (epoch: number) => reader.startOf(epoch);
  return { ...ground, ...found, items, uploads, aggregators, upkeep, upkeepMs, clock, startOf };
}
