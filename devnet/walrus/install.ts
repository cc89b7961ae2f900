import { normalizeSuiAddress } from "@mysten/sui/utils";
import type { DevnetParts } from "../parts.ts";
import { Aggregator } from "./aggregator.ts";
import { installAttributes } from "./attributes.ts";
import { folderFiles, memoryFiles } from "./files.ts";
import { WalrusFunctions } from "./functions.ts";
import { StorageNodeApi } from "./node.ts";
import { Publisher } from "./publisher.ts";
import { type Tip, UploadRelay } from "./relay.ts";
import { BlobStorage } from "./storage.ts";
import { type Prices, WalrusSystem } from "./system.ts";
import { Wallet } from "./wallet.ts";

/** Options of {@linkcode installWalrus}. */
export interface WalrusOptions {
  /** Number of shards; 10 when absent, 1,000 on the public networks. */
  readonly shards?: number;
  /** Number of storage nodes; 4 when absent, at most one per shard. */
  readonly nodes?: number;
  /** Number of aggregators; 2 when absent. */
  readonly aggregators?: number;
  /** What the relay wants to be paid; 105 MIST when absent, `null`: nothing. */
  readonly tip?: Tip | null;
  /** What storage costs. */
  readonly prices?: Prices;
  /** WAL of the publisher's wallet in FROST; 10^15 when absent. */
  readonly publisherWal?: bigint;
}

/** A Walrus network on a chain of one process. */
export interface WalrusNetwork extends Disposable {
  /** The package on chain; `system.epoch` is the present epoch. */
  readonly system: WalrusSystem;
  /** Id of the system object. */
  readonly systemId: string;
  /** Id of the staking object. */
  readonly stakingId: string;
  /** Type of WAL. */
  readonly walType: string;
  /** Number of shards. */
  readonly shards: number;
  /** Base URLs of the storage nodes. */
  readonly nodeUrls: readonly string[];
  /** Base URLs of the aggregators. */
  readonly aggregatorUrls: readonly string[];
  /** Base URL of the publisher. */
  readonly publisherUrl: string;
  /** Base URL of the upload relay. */
  readonly uploadRelayUrl: string;
  /** Storage nodes: what is stored, and whether it can be read. */
  readonly storage: BlobStorage;
  /** The aggregators, to make new blobs be missed for a while. */
  readonly aggregators: readonly Aggregator[];
  /** The relay, to change its tip. */
  readonly relay: UploadRelay;
  /** The publisher, to change its limits. */
  readonly publisher: Publisher;
  /** The wallet that the publisher pays with. */
  readonly publisherWallet: Wallet;
  /** Begins the next epoch of Walrus: storage that ends with this one is over. */
  advanceEpoch(): void;
  /** Takes epoch and blobs from the chain, when its objects were restored after the installation. */
  reload(): void;
}

/** Sets up Walrus: its package, storage nodes, aggregators, publisher and upload relay. */
export async function installWalrus(
  { chain, faults, seed, dataDir, serve }: DevnetParts,
  options: WalrusOptions = {},
): Promise<WalrusNetwork> {
  const shards = options.shards ?? 10;
  const nodes = Math.min(options.nodes ?? 4, shards);
  const nodeUrls: string[] = [];
  const apis: StorageNodeApi[] = [];
  for (let index = 0; index < nodes; index++) {
    // The nodes' addresses are written to the chain, so that they listen before they can answer.
    const url = await serve(`node:${index}`, (request, wrong) => {
      const api = apis[index];
      return api === undefined
        ? Promise.resolve(new Response("starting", { status: 503 }))
        : api.handle(request, wrong);
    });
    nodeUrls.push(url);
  }
  const system = new WalrusSystem(chain, {
    shards,
    nodes,
    seed,
    nodeAddress: (index) => (nodeUrls[index] ?? "").replace(/^https?:\/\//, ""),
    ...(options.prices === undefined ? {} : { prices: options.prices }),
  });
  const files = dataDir === undefined ? memoryFiles() : folderFiles(`${dataDir}/walrus`);
  const storage = new BlobStorage(system, files, faults);
  const functions = new WalrusFunctions(system, storage.index);
  functions.install();
  installAttributes(system);
  for (let index = 0; index < nodes; index++) apis.push(new StorageNodeApi(storage, index));

  const aggregators: Aggregator[] = [];
  const aggregatorUrls: string[] = [];
  for (let index = 0; index < (options.aggregators ?? 2); index++) {
    const aggregator = new Aggregator(storage);
    aggregators.push(aggregator);
    const handle = (request: Request, wrong: boolean) => aggregator.handle(request, wrong);
    aggregatorUrls.push(await serve(`aggregator:${index}`, handle));
  }
  const tip: Tip | undefined = options.tip === null
    ? undefined
    : options.tip ?? { kind: "const", amount: 105n };
  const relay = new UploadRelay(storage, chain.freshId(), tip);
  const uploadRelayUrl = await serve("relay", (request, wrong) => relay.handle(request, wrong));

  const wallet = new Wallet(chain, normalizeSuiAddress(chain.freshId()), system.walType);
  chain.mint(wallet.address, system.walType, options.publisherWal ?? 10n ** 15n);
  const publisher = new Publisher(storage, functions, wallet);
  const publisherUrl = await serve(
    "publisher",
    (request, wrong) => publisher.handle(request, wrong),
  );
  return {
    system,
    systemId: system.systemId,
    stakingId: system.stakingId,
    walType: system.walType,
    shards,
    nodeUrls,
    aggregatorUrls,
    publisherUrl,
    uploadRelayUrl,
    storage,
    aggregators,
    relay,
    publisher,
    publisherWallet: wallet,
    advanceEpoch: () => system.advanceEpoch(),
    reload: () => {
      system.reload();
      storage.index.reload();
    },
    [Symbol.dispose]: () => storage[Symbol.dispose](),
  };
}
