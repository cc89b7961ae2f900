import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { WalrusClient } from "@mysten/walrus";
import {
  installWalrus,
  type WalrusNetwork,
  type WalrusOptions,
} from "../../devnet/walrus/install.ts";
import { type PartsFixture, startParts } from "./parts_fixture.ts";

/** A Walrus network, a funded wallet and clients of the SDK. */
export interface WalrusFixture extends AsyncDisposable {
  /** The chain and what it runs on. */
  readonly parts: PartsFixture;
  /** The network. */
  readonly walrus: WalrusNetwork;
  /** Has SUI and WAL. */
  readonly wallet: Ed25519Keypair;
  /** A new client that talks to the storage nodes. */
  direct(): WalrusClient;
  /** A new client that uses the upload relay and pays at most 1,000 MIST for it. */
  relayed(): WalrusClient;
  /** Status and text of an aggregator's answer. @param path Without `/v1/`. */
  read(path: string, aggregator?: number): Promise<readonly [status: number, text: string]>;
}

/** Text as bytes. */
export const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

/** Starts a network of 10 shards and 4 nodes, unless told otherwise. */
export async function startWalrus(
  options: WalrusOptions = {},
  dataDir?: string,
): Promise<WalrusFixture> {
  const parts = startParts(dataDir);
  const walrus = await installWalrus(parts, options);
  const wallet = Ed25519Keypair.fromSecretKey(new Uint8Array(32).fill(7));
  for (let coin = 0; coin < 3; coin++) {
    parts.chain.mint(wallet.toSuiAddress(), "0x2::sui::SUI", 10_000_000_000n);
  }
  parts.chain.mint(wallet.toSuiAddress(), walrus.walType, 10_000_000_000n);
  const config = () => ({
    packageConfig: { systemObjectId: walrus.systemId, stakingPoolId: walrus.stakingId },
    suiClient: parts.client(),
    storageNodeUrlScheme: "http" as const,
  });
  return {
    parts,
    walrus,
    wallet,
    direct: () => new WalrusClient(config()),
    relayed: () =>
      new WalrusClient({
        ...config(),
        uploadRelay: { host: walrus.uploadRelayUrl, sendTip: { max: 1_000 } },
      }),
    async read(path, aggregator = 0) {
      const response = await fetch(`${walrus.aggregatorUrls[aggregator]}/v1/${path}`);
      return [response.status, await response.text()];
    },
    async [Symbol.asyncDispose]() {
      walrus[Symbol.dispose]();
      await parts[Symbol.asyncDispose]();
    },
  };
}
