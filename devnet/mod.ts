/**
 * A local Sui with Seal and Walrus for tests and development: real protocols, no network, no Move
 * VM. See docs/devnet.md.
 *
 * @module
 */
import type { RpcTransport } from "@mysten/sui/grpc";
import type { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { type Amounts, Faucet } from "./faucet.ts";
import { Faults } from "./faults.ts";
import { CallCounts, type DevnetParts } from "./parts.ts";
import { installSeal, type SealNetwork } from "./seal/install.ts";
import { EndpointServers } from "./servers.ts";
import { ChainFile } from "./chain_file.ts";
import { settingsOf } from "./settings.ts";
import { Chain } from "./sui/chain.ts";
import { DevnetClock } from "./sui/clock.ts";
import { SUI_TYPE } from "./sui/coin.ts";
import { installFramework } from "./sui/framework.ts";
import { installPublishing } from "./sui/publish.ts";
import { grpcWeb } from "./sui/rpc/grpc_web.ts";
import { inProcessTransport } from "./sui/rpc/in_process.ts";
import { ChainNode } from "./sui/rpc/node.ts";
import { genesisSvc } from "./sui/svc_contract.ts";
import { walletOf } from "./wallets.ts";
import { installWalrus, type WalrusNetwork } from "./walrus/install.ts";

export type { Chain } from "./sui/chain.ts";
export type { Amounts } from "./faucet.ts";
export type { Fault, Faults } from "./faults.ts";

/** Options of {@linkcode startDevnet}. */
export interface DevnetOptions {
  /** Shards of Walrus; 10 when absent. 1,000 gives the ids of the public networks, slowly. */
  readonly shards?: number;
  /** Decides ids and keys; 1 when absent. */
  readonly seed?: number;
  /** Folder that keeps the chain and the blobs between starts; memory only when absent. */
  readonly dataDir?: string;
  /** Port of the node; the other endpoints get the ports after it. Any free ones when absent. */
  readonly port?: number;
  /** Independent key servers; 3 when absent. */
  readonly keyServers?: number;
  /** Version of the contract, 1 or 2; the present one, 2, when absent. */
  readonly contract?: bigint;
  /** Milliseconds since the epoch; the machine's clock when absent. */
  readonly now?: () => number;
}

/** A running devnet. */
export interface Devnet extends AsyncDisposable {
  /** Node: gRPC-web of `sui.rpc.v2`. */
  readonly rpcUrl: string;
  /** `POST {"address"}` sends SUI and WAL. */
  readonly faucetUrl: string;
  /** Package of `svc::account`. */
  readonly packageId: string;
  /** Its registry. */
  readonly registryId: string;
  /** Key servers of Seal. */
  readonly keyServers: SealNetwork["keyServers"];
  /** Walrus; its epochs are advanced there. */
  readonly walrus: WalrusNetwork;
  /** The chain, for assertions. Its epochs are advanced there. */
  readonly chain: Chain;
  /** The node, to hold transactions or break streams. */
  readonly node: ChainNode;
  /** The chain's time. */
  readonly clock: DevnetClock;
  /** Makes endpoints fail. */
  readonly faults: Faults;
  /** Requests by endpoint, and `chain/METHOD`. */
  readonly calls: ReadonlyMap<string, number>;
  /** Funded wallets: those that pay for blobs, and the one that pays for other people's gas. */
  readonly wallets: {
    readonly payers: readonly Ed25519Keypair[];
    readonly sponsor: Ed25519Keypair;
  };
  /** Sends new SUI and WAL to an address. */
  fund(address: string, amounts?: Amounts): Promise<void>;
  /** `SVC_*` settings of a program that runs on it. */
  settings(): Record<string, string>;
  /** A transport for SuiGrpcClient that needs no socket. */
  transport(): RpcTransport;
}

/** Wallets that pay for blobs: several, because each has one transaction in flight at a time. */
const PAYERS = 3;
const SUI = 1_000_000_000n;
const PAYER_FUNDS = { sui: 1_000n * SUI, wal: 100_000n * SUI };

interface Started {
  readonly options: DevnetOptions;
  readonly servers: EndpointServers;
  readonly parts: DevnetParts;
  readonly close: () => void;
}

async function assemble({ options, servers, parts, close }: Started): Promise<Devnet> {
  const { chain, faults, calls, seed } = parts;
  const node = new ChainNode(chain, faults, calls);
  const rpcUrl = await servers.listen(async (request) =>
    await grpcWeb(node, request) ?? new Response("not found", { status: 404 })
  );
  const { packageId, registryId } = genesisSvc(chain, options.contract);
  const seal = await installSeal(parts, { servers: options.keyServers ?? 3 });
  const walrus = await installWalrus(parts, { shards: options.shards ?? 10 });
  const faucet = new Faucet(chain, walrus.walType);
  const faucetUrl = await servers.serve("faucet", faucet.handle);
  const payers = Array.from({ length: PAYERS }, (_, index) => walletOf(seed, `payer:${index}`));
  const sponsor = walletOf(seed, "sponsor");
  for (const wallet of [...payers, sponsor]) {
    chain.mint(wallet.toSuiAddress(), SUI_TYPE, PAYER_FUNDS.sui);
    chain.mint(wallet.toSuiAddress(), walrus.walType, PAYER_FUNDS.wal);
  }
  const devnet: Devnet = {
    rpcUrl,
    faucetUrl,
    packageId,
    registryId,
    keyServers: seal.keyServers,
    walrus,
    chain,
    node,
    clock: chain.clock,
    faults,
    calls: calls.all,
    wallets: { payers, sponsor },
    // Async by contract: a real network answers later, also with what it refuses.
    fund: (address, amounts) => Promise.try(() => void faucet.fund(address, amounts)),
    settings: () => settingsOf(devnet),
    transport: () => inProcessTransport(node),
    async [Symbol.asyncDispose]() {
      faults.clear();
      node.dropStreams();
      await servers[Symbol.asyncDispose]();
      walrus[Symbol.dispose]();
      close();
    },
  };
  return devnet;
}

/**
 * Starts a devnet. Everything but ports and, unless given, the time follows from the seed.
 * Throws when a port is taken.
 */
export async function startDevnet(options: DevnetOptions = {}): Promise<Devnet> {
  const { seed = 1, dataDir, port = 0 } = options;
  const faults = new Faults();
  const calls = new CallCounts();
  const chain = new Chain({ seed, clock: new DevnetClock(options.now) });
  const servers = new EndpointServers({ faults, calls, port });
  installFramework(chain);
  installPublishing(chain);
  const history = dataDir === undefined ? undefined : new ChainFile(dataDir, chain);
  const parts: DevnetParts = {
    chain,
    faults,
    calls,
    seed,
    dataDir,
    serve: (endpoint, handler) => servers.serve(endpoint, handler),
  };
  try {
    const devnet = await assemble({ options, servers, parts, close: () => history?.close() });
    history?.follow(devnet.walrus.system);
    return devnet;
  } catch (error) {
    history?.close();
    await servers[Symbol.asyncDispose]();
    throw error;
  }
}
