import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { WalrusClient } from "@mysten/walrus";
import { Aggregators } from "./aggregator/aggregators.ts";
import { WalrusBlobStore } from "./blob_store.ts";
import { Catalogue } from "./catalogue.ts";
import { type Clock, SYSTEM_CLOCK } from "./clock.ts";
import { ChainReads } from "./discovery/chain_reads.ts";
import { DISCOVERY_SCHEMA } from "./discovery/found_rows.ts";
import { Listing } from "./discovery/listing.ts";
import { Discovery } from "./discovery/look.ts";
import { BlobBytes } from "./discovery/proven_bytes.ts";
import type { Route } from "./networks.ts";
import { UPKEEP_SCHEMA } from "./upkeep/merge.ts";
import { MoveTeller } from "./upkeep/moves.ts";
import { Upkeep } from "./upkeep/upkeep.ts";
import { boundedHttp } from "./upload/bounded_http.ts";
import { Chain } from "./upload/chain.ts";
import { Encoder } from "./upload/encoder.ts";
import { ItemRows } from "./upload/item_rows.ts";
import { BlobFiles } from "./upload/upload_bytes.ts";
import { SignedRows, UPLOAD_SCHEMA, UploadRows } from "./upload/upload_rows.ts";
import { Uploads, type UploadsOptions } from "./upload/uploads.ts";
import { parseWallets, Wallets } from "./upload/wallets.ts";
import { StateReader } from "./walrus_state.ts";

/** Where Walrus is on the chain. */
export interface WalrusObjects {
  readonly systemObjectId: string;
  readonly stakingPoolId: string;
}

/** Settings of {@linkcode openWalrus}. */
export interface WalrusOptions {
  /** Folder of `walrus.db` and of blobs on their way. */
  readonly dataDir: string;
  readonly sui: SuiGrpcClient;
  /** Client of an archive, which has the transactions that the node has forgotten. */
  readonly archive?: SuiGrpcClient | undefined;
  readonly objects: WalrusObjects;
  readonly route: Route;
  readonly aggregatorUrls: readonly string[];
  /** Private keys of the wallets that pay, comma-separated. */
  readonly privateKeys: string;
  /** The contract's package, an attribute of every Blob object. */
  readonly packageId?: string | undefined;
  /** Addresses whose blobs are trusted, besides the wallets' and the owner's own. */
  readonly writers?: readonly string[];
  /** Epochs a blob is paid for. */
  readonly epochs: number;
  /** Epochs before its end at which a blob is stored again; 0: never. */
  readonly renewBefore?: number;
  /** Milliseconds without an answer after which the next aggregator is asked too. */
  readonly raceAfterMs?: number;
  /** How long a lonely item waits for others, in milliseconds. */
  readonly batchMs: number;
  /** How long bytes are kept here once they are stored or read, in milliseconds. */
  readonly keepMs: number;
  /** Milliseconds between rounds of upkeep; 0: none. */
  readonly upkeepMs?: number;
  /** Longest wait of a `put`, in milliseconds. */
  readonly patienceMs?: number;
  readonly clock?: Clock;
  /** Called between every two steps of an upload, for tests. */
  readonly failpoint?: (name: string) => void;
  /** Takes notes for the operator, which contain no texts, keys or addresses. */
  readonly log?: (level: "debug" | "info" | "warn", message: string) => void;
}

/** Most that an upload relay is paid for one blob: 0.01 SUI, in MIST. */
const MAX_TIP = 10_000_000;

/** Longest exchange in milliseconds: a relay encodes for 4 s and stores at hundreds of nodes first. */
const TRANSFER_MS = 180_000;

/** Most bytes of an answer; the certificate of a thousand nodes has some 10 kB. */
const MAX_ANSWER = 262_144;

/** What several parts of the store need. */
interface Ground {
  readonly catalogue: Catalogue;
  readonly items: ItemRows;
  readonly encoder: Encoder;
  readonly wallets: Wallets;
  readonly walrus: WalrusClient;
  readonly reader: StateReader;
  /** Aborted on closing, which ends the transfers under way. */
  readonly closing: AbortController;
  readonly publisher: UploadsOptions["publisher"];
  readonly clock: Clock;
  readonly log: NonNullable<WalrusOptions["log"]>;
  readonly now: () => number;
}

function openGround(options: WalrusOptions): Ground {
  const { dataDir, route, objects, sui, clock = SYSTEM_CLOCK, log = () => {} } = options;
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
  const sendTip = { max: MAX_TIP };
  const walrus = new WalrusClient({
    packageConfig: objects,
    suiClient: sui,
    ...(route.kind === "publisher"
      ? {}
      : { uploadRelay: { host: route.url, fetch: http, timeout: TRANSFER_MS, sendTip } }),
  });
  const schema = [UPLOAD_SCHEMA, DISCOVERY_SCHEMA, UPKEEP_SCHEMA];
  const catalogue = new Catalogue({ dataDir, schema });
  return {
    catalogue,
    items: new ItemRows(catalogue.database),
    encoder: new Encoder(clock),
    wallets,
    walrus,
    reader: new StateReader(walrus, now),
    closing,
    publisher: route.kind === "publisher" ? { url: route.url, http } : undefined,
    clock,
    log,
    now,
  };
}

function uploadsOf(options: WalrusOptions, ground: Ground): Uploads {
  const { dataDir, sui, epochs, packageId, batchMs, keepMs, failpoint = () => {} } = options;
  const { catalogue: { database }, walrus, reader } = ground;
  const state = () => reader.state();
  return new Uploads({
    ...ground,
    uploads: new UploadRows(database),
    signed: new SignedRows(database),
    files: new BlobFiles(dataDir),
    chain: new Chain({ sui, walrus, packageId, epochs, state }),
    sui,
    epochs,
    failpoint,
    batchMs,
    keepMs,
    ...(options.patienceMs === undefined ? {} : { patienceMs: options.patienceMs }),
  });
}

function discoveryOf(options: WalrusOptions, ground: Ground): Discovery {
  const { sui, archive, packageId, writers = [] } = options;
  const { catalogue, walrus, reader, wallets, log } = ground;
  return new Discovery({
    catalogue,
    chain: new ChainReads(sui, () => walrus.getBlobType(), archive),
    epoch: async () => (await reader.state()).epoch,
    wallets: wallets.addresses,
    writers,
    packageId,
    log,
  });
}

/**
 * Opens the store, which goes on with what is in the data directory, and contacts nobody before there
 * is something to do.
 *
 * @throws {SvcError} `invalid_parameter` for malformed keys, `storage_unavailable` when
 * `walrus.db` cannot be opened.
 */
export function openWalrus(options: WalrusOptions): WalrusBlobStore {
  const { epochs, keepMs, renewBefore = 1, raceAfterMs = 150, upkeepMs = 0 } = options;
  const ground = openGround(options);
  const { catalogue, encoder, reader, log, now } = ground;
  const state = () => reader.state();
  const shards = async () => (await state()).shards;
  const uploads = uploadsOf(options, ground);
  const aggregators = new Aggregators({ urls: options.aggregatorUrls, raceAfterMs, now });
  const blobIdOf = async (blob: Uint8Array) => (await encoder.blob(await shards(), blob)).blobId;
  const bytes = new BlobBytes({ catalogue, aggregators, shards, blobIdOf, keepMs, now });
  const discovery = discoveryOf(options, ground);
  const epoch = async () => (await state()).epoch;
  const listing = new Listing({ catalogue, discovery, bytes, epoch, log });
  const moves = new MoveTeller(catalogue, () => log("warn", "walrus: moves are told again later"));
  const upkeep = new Upkeep({
    catalogue,
    writer: uploads,
    bytes,
    discovery,
    listing,
    moves,
    state,
    epochStart: () => reader.epochStart(),
    epochs,
    renewBefore,
    now,
    log,
  });
  const parts = { uploads, bytes, aggregators, listing, discovery, upkeep, moves, state, upkeepMs };
  return new WalrusBlobStore({ ...ground, ...parts });
}
