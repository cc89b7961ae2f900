import { type Devnet, type DevnetOptions, startDevnet } from "../../../../devnet/mod.ts";
import type { Catalogue } from "../../../../plugins/sui/walrus/catalogue.ts";
import type { Clock } from "../../../../plugins/sui/walrus/clock.ts";
import { openSui } from "../../../../plugins/sui/chain/sui_client.ts";
import { WalrusBlobStore } from "../../../../plugins/sui/walrus/blob_store.ts";
import type { WalrusOptions } from "../../../../plugins/sui/walrus/parts.ts";
import type { Scope } from "../../../../src/interfaces/mod.ts";
import { columnsOf } from "../../../../src/storage/sqlite/database.ts";

/** What a test changes of the options. */
export type Changes = Partial<WalrusOptions> & { readonly via?: "relay" | "publisher" };

/** A devnet and a data directory to open stores on. */
export class WalrusStage implements AsyncDisposable {
  private constructor(
    /** The network. */
    readonly devnet: Devnet,
    /** Folder of `walrus.db`. */
    readonly dataDir: string,
  ) {}

  /** Starts a network; its relay takes no tips unless asked to. */
  static async start({ tips = false, ...options }: DevnetOptions & { tips?: boolean } = {}) {
    const devnet = await startDevnet(options);
    if (!tips) devnet.walrus.relay.tip = undefined;
    return new WalrusStage(devnet, await Deno.makeTempDir());
  }

  /** Opens a store, by default on the stage's own folder and with no wait for company. */
  open({ via = "relay", ...changes }: Changes = {}): WalrusBlobStore {
    return new WalrusBlobStore(optionsOn(this.devnet, { dataDir: this.dataDir, via, ...changes }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.devnet[Symbol.asyncDispose]();
    await Deno.remove(this.dataDir, { recursive: true });
  }
}

/** Options of a store on a network. */
export function optionsOn(
  devnet: Devnet,
  { via = "relay", ...changes }: Changes & { dataDir: string },
): WalrusOptions {
  const { walrus } = devnet;
  const url = via === "relay" ? walrus.uploadRelayUrl : walrus.publisherUrl;
  return {
    sui: openSui({ network: "localnet", url: devnet.rpcUrl }),
    objects: { systemObjectId: walrus.systemId, stakingPoolId: walrus.stakingId },
    route: { kind: via, url },
    aggregatorUrls: walrus.aggregatorUrls,
    privateKeys: devnet.settings().SVC_SUI_PRIVATE_KEYS ?? "",
    packageId: devnet.packageId,
    writers: [],
    epochs: 3,
    renewBefore: 1,
    raceAfterMs: 150,
    batchMs: 0,
    keepMs: 0,
    ...changes,
  };
}

/** The machine's time, so many times as fast: pauses of seconds take milliseconds. */
export function hastyClock(times = 200): Clock {
  const start = Date.now();
  return {
    now: () => start + (Date.now() - start) * times,
    after(ms, callback) {
      const timer = setTimeout(callback, ms / times);
      return () => clearTimeout(timer);
    },
  };
}

/** WAL that anybody holds: less of it is there when storage was paid. */
export function walHeld({ chain, walrus }: Devnet): bigint {
  let sum = 0n;
  const type = `::coin::Coin<${walrus.walType}>`;
  for (const object of chain.objects.values()) {
    if (!object.type.endsWith(type)) continue;
    sum += new DataView(object.bcs.buffer, object.bcs.byteOffset).getBigUint64(32, true);
  }
  return sum;
}

/** Blob objects of an address. */
export function blobsOf({ chain }: Devnet, address: string): number {
  return chain.objects.ownedBy(address).filter(({ type }) => type.endsWith("::blob::Blob")).length;
}

/** Deletions of a scope, oldest first; `quilt` names the quilt that tells others. */
export function tombstonesOf({ database }: Catalogue, scope: Scope) {
  return database.all<{ id: string; at: number; quilt: string | null }>(
    "select id, at, quilt from tombstone where owner = ? and namespace = ? order by seq",
    ...columnsOf(scope),
  ).map(({ quilt, ...row }) => ({ ...scope, ...row, ...(quilt === null ? {} : { quilt }) }));
}
