import type { SuiClientTypes } from "@mysten/sui/client";
import { isRefusal } from "./sponsor_failure.ts";

/** A coin of SUI at one of its versions. */
export interface GasCoin {
  /** Id, `0x` and 64 hex characters. */
  readonly objectId: string;
  /** Version, decimal. */
  readonly version: string;
  /** Digest of that version, base58. */
  readonly digest: string;
  /** MIST. */
  readonly balance: bigint;
}

/** What an executed transaction made of coins. */
export interface CoinChange {
  /** Coins at their new versions. */
  readonly coins: readonly GasCoin[];
  /** Ids of coins that are no more. */
  readonly gone: readonly string[];
}

/** What a {@linkcode CoinPool} works with. */
export interface CoinPoolOptions {
  /** Every coin of the wallet, as the chain has it. */
  readonly list: () => Promise<readonly GasCoin[]>;
  /** Merges coins and splits off so many equal ones, in one transaction. */
  readonly split: (coins: readonly GasCoin[], parts: number) => Promise<CoinChange>;
  /** What a coin must hold at least, MIST. */
  readonly need: bigint;
  /** What a split costs at most, MIST. */
  readonly splitGas: bigint;
  /** How long a coin that was taken is left alone, milliseconds. */
  readonly holdMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

interface Hold {
  readonly version: bigint;
  readonly until: number;
}

/** Coins that are made out of one at a time, at most. */
const MAX_PARTS = 16;
/** Usable coins with which no more are made. */
const ENOUGH = 4;
/** Small coins that are merged in a split, at most. */
const MAX_MERGED = 32;

/**
 * The coins of a wallet, each for one transaction at a time: two transactions that spend the same
 * version of a coin would lock it until the epoch ends.
 *
 * A coin that was taken comes back by {@linkcode put}, or by itself when the chain has a newer
 * version of it, or when its time is over.
 */
export class CoinPool {
  readonly #options: CoinPoolOptions;
  readonly #free = new Map<string, GasCoin>();
  readonly #held = new Map<string, Hold>();
  #refilling: Promise<void> | undefined;

  /** Lists coins at the first need of one. */
  constructor(options: CoinPoolOptions) {
    this.#options = options;
  }

  /** Coins that are held. */
  get held(): number {
    return this.#held.size;
  }

  /**
   * A coin that nobody else has, with the balance that is needed.
   *
   * @returns `undefined` when there is none and none can be made.
   */
  async take(): Promise<GasCoin | undefined> {
    for (let tries = 0; tries < 3; tries++) {
      const coin = this.#pick();
      if (coin !== undefined) return coin;
      // One listing or split serves all who wait.
      this.#refilling ??= this.#refill().finally(() => this.#refilling = undefined);
      await this.#refilling;
    }
    return this.#pick();
  }

  /** Gives a coin back: at its new version, or as it was when nothing was done with it. */
  put(coin: GasCoin): void {
    this.#held.delete(coin.objectId);
    this.#free.set(coin.objectId, coin);
  }

  /** Leaves a coin alone from now on: nobody knows whether its version was spent. */
  doubt(coin: GasCoin): void {
    this.#free.delete(coin.objectId);
    this.#hold(coin);
  }

  /** Forgets a coin that is not what it was thought to be; the chain is asked for it. */
  forget(coin: GasCoin): void {
    this.#free.delete(coin.objectId);
    this.#held.delete(coin.objectId);
  }

  #hold(coin: GasCoin): void {
    const until = this.#options.now() + this.#options.holdMs;
    this.#held.set(coin.objectId, { version: BigInt(coin.version), until });
  }

  /** The smallest coin that suffices, so that large ones are left to be split. */
  #pick(): GasCoin | undefined {
    let best: GasCoin | undefined;
    for (const coin of this.#free.values()) {
      if (coin.balance < this.#options.need) continue;
      if (best === undefined || coin.balance < best.balance) best = coin;
    }
    if (best === undefined) return undefined;
    this.#free.delete(best.objectId);
    this.#hold(best);
    return best;
  }

  /** Asks the chain; makes more coins out of one where few are left, or one out of many crumbs. */
  async #refill(): Promise<void> {
    await this.#relist();
    const { need, splitGas } = this.#options;
    const free = [...this.#free.values()].sort((a, b) => a.balance < b.balance ? 1 : -1);
    const usable = free.findIndex(({ balance }) => balance < need);
    const [largest] = free;
    if (largest === undefined || (usable < 0 ? free.length : usable) >= ENOUGH) return;
    const crumbs = free.slice(1).filter(({ balance }) => balance < need).slice(0, MAX_MERGED);
    const sum = crumbs.reduce((total, { balance }) => total + balance, largest.balance) - splitGas;
    // A coin of twice the need lasts for some transactions, because few cost the most they may.
    const pieces = sum / (2n * need);
    if (largest.balance < need && sum >= need || pieces > 1n) {
      const parts = pieces > BigInt(MAX_PARTS) ? MAX_PARTS : Math.max(0, Number(pieces) - 1);
      await this.#split([largest, ...crumbs], parts);
    }
  }

  async #split(coins: readonly GasCoin[], parts: number): Promise<void> {
    for (const coin of coins) this.doubt(coin);
    try {
      const { coins: made, gone } = await this.#options.split(coins, parts);
      for (const id of gone) this.#held.delete(id);
      for (const coin of made) this.put(coin);
    } catch (error) {
      if (isRefusal(error)) coins.forEach((coin) => this.forget(coin));
      throw error;
    }
  }

  async #relist(): Promise<void> {
    const now = this.#options.now();
    for (const coin of await this.#options.list()) {
      const version = BigInt(coin.version);
      const held = this.#held.get(coin.objectId);
      if (held !== undefined && version <= held.version && now < held.until) continue;
      this.#held.delete(coin.objectId);
      const known = this.#free.get(coin.objectId);
      // A node may lag behind what an execution has told.
      if (known === undefined || version > BigInt(known.version)) {
        this.#free.set(coin.objectId, coin);
      }
    }
  }
}

/** Coins out of the effects of a transaction that spent some of them as gas. */
export function changeOf(
  effects: SuiClientTypes.TransactionEffects,
  coins: readonly GasCoin[],
  amount: bigint,
): CoinChange {
  const [gas] = coins;
  const spent = coins.reduce((sum, { balance }) => sum + balance, 0n);
  const made: GasCoin[] = [];
  const gone: string[] = [];
  for (const { objectId, outputVersion, outputDigest, idOperation } of effects.changedObjects) {
    const isGas = objectId === gas?.objectId;
    if (outputVersion === null || outputDigest === null || idOperation === "Deleted") {
      gone.push(objectId);
    } else if (isGas || idOperation === "Created") {
      const balance = isGas ? 0n : amount;
      made.push({ objectId, version: outputVersion, digest: outputDigest, balance });
    }
  }
  const rest = spent - netGas(effects) - amount * BigInt(made.length - 1);
  return {
    coins: made.map((coin) => coin.objectId === gas?.objectId ? { ...coin, balance: rest } : coin),
    gone,
  };
}

/** What a transaction cost its payer in MIST: computation and storage less the rebate. */
export function netGas({ gasUsed }: Pick<SuiClientTypes.TransactionEffects, "gasUsed">): bigint {
  const { computationCost, storageCost, storageRebate } = gasUsed;
  return BigInt(computationCost) + BigInt(storageCost) - BigInt(storageRebate);
}
