import { SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import type { Transaction } from "@mysten/sui/transactions";
import { Faults } from "../../../../../devnet/faults.ts";
import { CallCounts } from "../../../../../devnet/parts.ts";
import { Chain } from "../../../../../devnet/sui/chain.ts";
import { DevnetClock } from "../../../../../devnet/sui/clock.ts";
import { SUI_TYPE } from "../../../../../devnet/sui/coin.ts";
import { inProcessTransport } from "../../../../../devnet/sui/rpc/in_process.ts";
import { ChainNode } from "../../../../../devnet/sui/rpc/node.ts";
import { genesisSvc } from "../../../../../devnet/sui/svc_contract.ts";
import { GasStation } from "../../../../../plugins/sui/sponsors/gas_station/station.ts";
import {
  createAccount,
  type Deployment,
} from "../../../../../plugins/sui/accounts/transactions.ts";
import type { Sponsor } from "../../../../../src/interfaces/mod.ts";

/** Most gas of one transaction here, MIST. */
export const MAX_GAS = 50_000_000;

const START = Date.UTC(2026, 10, 21);

/** A node that does something else between the work of a call and its answer. */
class SlowNode extends ChainNode {
  readonly #before = new Map<string, () => Promise<void>>();

  /** What is done before the next call of a method is answered. */
  meanwhile(method: string, work: () => Promise<void>): void {
    this.#before.set(method, work);
  }

  override async *call(...args: Parameters<ChainNode["call"]>): ReturnType<ChainNode["call"]> {
    const method = args[0].slice(args[0].indexOf("/") + 1);
    const work = this.#before.get(method);
    this.#before.delete(method);
    for await (const frame of super.call(...args)) {
      await work?.();
      yield frame;
    }
  }
}

/** A chain with the contract, a node with switches, and a gas station. */
export class World implements AsyncDisposable {
  /** Its clock stands still. */
  readonly chain = new Chain({ clock: new DevnetClock(() => START) });
  readonly faults = new Faults();
  readonly calls = new CallCounts();
  readonly node = new SlowNode(this.chain, this.faults, this.calls);
  readonly client = new SuiGrpcClient({
    network: "localnet",
    transport: inProcessTransport(this.node),
  });
  readonly wallet = Ed25519Keypair.fromSecretKey(new Uint8Array(32).fill(9));
  readonly deployment: Deployment;
  readonly notes: string[] = [];
  readonly sponsor: Sponsor;

  /** @param coins balances of the wallet's coins, MIST. */
  constructor(coins: readonly bigint[] = [5_000_000_000n]) {
    const { packageId, registryId: registry } = genesisSvc(this.chain);
    this.deployment = { packageId, registry };
    for (const amount of coins) this.chain.mint(this.wallet.toSuiAddress(), SUI_TYPE, amount);
    this.sponsor = this.station();
  }

  /** Another station of the same wallet, as after a restart. */
  station(): Sponsor {
    return new GasStation({
      client: this.client,
      wallet: this.wallet,
      maxGasMist: MAX_GAS,
      now: () => this.chain.now(),
      log: (message) => this.notes.push(message),
    });
  }

  /** Balance of the wallet's coins, each, MIST. */
  get coins(): bigint[] {
    return this.chain.objects.ownedBy(this.wallet.toSuiAddress())
      .map((object) => this.chain.coinBalance(object));
  }

  /** Digests of what was executed on chain, splits included. */
  get executed(): readonly string[] {
    return this.chain.ledger.records.map(({ digest }) => digest);
  }

  /** Kind bytes of a transaction, whose objects the node looks up. */
  async kind(transaction: Transaction = createAccount(this.deployment)): Promise<Uint8Array> {
    return await transaction.build({ client: this.client, onlyTransactionKind: true });
  }

  /** Has a new owner's account sponsored and signs it, without executing it. */
  async signed(owner: Ed25519Keypair = new Ed25519Keypair(), kindBytes?: Uint8Array) {
    const { bytes, digest } = await this.sponsor.sponsor({
      sender: owner.toSuiAddress(),
      kindBytes: kindBytes ?? await this.kind(),
    });
    const { signature } = await owner.signTransaction(bytes);
    return { owner, bytes, digest, signature: Uint8Array.fromBase64(signature) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sponsor[Symbol.asyncDispose]();
  }
}
