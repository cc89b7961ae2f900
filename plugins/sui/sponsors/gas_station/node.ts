import { Buffer } from "node:buffer";
import { bcs } from "@mysten/sui/bcs";
import { type ClientWithCoreApi, type SuiClientTypes, TransactionError } from "@mysten/sui/client";
import { Transaction } from "@mysten/sui/transactions";
import type { Keypair } from "@mysten/sui/cryptography";
import { changeOf, type CoinChange, type GasCoin } from "./coin_pool.ts";

const SUI = "0x2::sui::SUI";
/** Most coins that are read; a wallet of a gas station has few. */
const MAX_COINS = 500;
/** Most gas of a split, MIST: seventeen coins take 17 million of storage. */
export const SPLIT_GAS = 30_000_000n;
/** How long the gas price, which changes with the epoch, is used; milliseconds. */
const PRICE_MS = 30_000;

/** What every transaction of an epoch needs. */
interface GasTerms {
  /** MIST for a unit of gas. */
  readonly price: bigint;
  /** Last epoch in which a transaction made now may be executed. */
  readonly lastEpoch: bigint;
}

/** Effects of an executed transaction, whatever came of it. */
export type Effects = SuiClientTypes.TransactionEffects;

/** The calls of a node that a gas station makes. */
export class StationNode {
  readonly client: ClientWithCoreApi;
  readonly #wallet: Keypair;
  /** Address of the wallet. */
  readonly address: string;
  readonly #now: () => number;
  #terms: { readonly at: number; readonly terms: GasTerms } | undefined;

  constructor(client: ClientWithCoreApi, wallet: Keypair, now: () => number) {
    this.client = client;
    this.#wallet = wallet;
    this.address = wallet.toSuiAddress();
    this.#now = now;
  }

  async terms(): Promise<GasTerms> {
    const known = this.#terms;
    if (known !== undefined && this.#now() - known.at < PRICE_MS) return known.terms;
    const { systemState } = await this.client.core.getCurrentSystemState();
    const { referenceGasPrice, epoch } = systemState;
    const terms = { price: BigInt(referenceGasPrice), lastEpoch: BigInt(epoch) + 1n };
    this.#terms = { at: this.#now(), terms };
    return terms;
  }

  async coins(): Promise<GasCoin[]> {
    const found: GasCoin[] = [];
    for (let cursor: string | null = null; found.length < MAX_COINS;) {
      const page: SuiClientTypes.ListCoinsResponse = await this.client.core.listCoins({
        owner: this.address,
        coinType: SUI,
        cursor,
      });
      for (const { objectId, version, digest, balance } of page.objects) {
        found.push({ objectId, version, digest, balance: BigInt(balance) });
      }
      if (!page.hasNextPage || page.cursor === null) break;
      cursor = page.cursor;
    }
    return found;
  }

  /** The effects a transaction would have if it were executed now; `undefined` when it would fail. */
  async simulate(transaction: Uint8Array, signal?: AbortSignal): Promise<Effects | undefined> {
    const result = await this.client.core.simulateTransaction({
      transaction,
      include: { effects: true },
      ...(signal === undefined ? {} : { signal }),
    });
    return result.Transaction?.effects;
  }

  /** Executes a transaction; resolves with its effects also when it failed on chain. */
  async execute(transaction: Uint8Array, signatures: string[]): Promise<Effects> {
    const result = await this.client.core.executeTransaction({
      transaction,
      signatures,
      include: { effects: true },
    });
    return effectsOf(result.Transaction ?? result.FailedTransaction);
  }

  /** Effects of a transaction that was executed and paid by the wallet; `undefined` for others. */
  async executed(digest: string): Promise<Effects | undefined> {
    try {
      const result = await this.client.core.getTransaction({
        digest,
        include: { effects: true, transaction: true },
      });
      const found = result.Transaction ?? result.FailedTransaction;
      return found.transaction.gasData.owner === this.address ? effectsOf(found) : undefined;
    } catch (error) {
      if (error instanceof TransactionError) return undefined;
      throw error;
    }
  }

  /** Merges coins and splits the sum into `parts` equal ones and a rest. */
  async split(coins: readonly GasCoin[], parts: number): Promise<CoinChange> {
    const sum = coins.reduce((total, { balance }) => total + balance, 0n) - SPLIT_GAS;
    const amount = sum / BigInt(parts + 1);
    const tx = new Transaction();
    if (parts > 0) {
      const made = tx.splitCoins(tx.gas, Array<bigint>(parts).fill(amount));
      tx.transferObjects(Array.from({ length: parts }, (_, i) => made[i]!), this.address);
    }
    tx.setSender(this.address);
    tx.setGasPayment(coins.map(({ objectId, version, digest }) => ({ objectId, version, digest })));
    tx.setGasPrice((await this.terms()).price);
    tx.setGasBudget(SPLIT_GAS);
    const bytes = await tx.build();
    const { signature } = await this.#wallet.signTransaction(bytes);
    return changeOf(await this.execute(bytes, [signature]), coins, amount);
  }
}

function effectsOf(transaction: { readonly effects?: Effects | undefined }): Effects {
  if (transaction.effects === undefined) throw new Error("The node answered no effects");
  return transaction.effects;
}

/** A transaction of `sender` that `owner` pays for with a coin; amounts are in MIST. */
interface PaidTransaction extends GasTerms {
  readonly sender: string;
  /** BCS of its kind, which is used byte for byte. */
  readonly kindBytes: Uint8Array;
  readonly owner: string;
  readonly coin: GasCoin;
  readonly budget: bigint;
}

/** `TransactionData::V1`. */
const VERSION_1 = 0;

/**
 * BCS of `TransactionData`: version, kind, sender, gas data, expiration
 * (`sui-types/src/transaction.rs`).
 */
export function transactionBytes(transaction: PaidTransaction): Uint8Array<ArrayBuffer> {
  const { sender, kindBytes, owner, coin, price, budget, lastEpoch } = transaction;
  const { objectId, version, digest } = coin;
  const parts = [
    Uint8Array.of(VERSION_1),
    kindBytes,
    bcs.Address.serialize(sender).toBytes(),
    bcs.GasData.serialize({ payment: [{ objectId, version, digest }], owner, price, budget })
      .toBytes(),
    bcs.TransactionExpiration.serialize({ Epoch: Number(lastEpoch) }).toBytes(),
  ];
  return new Uint8Array(Buffer.concat(parts));
}
