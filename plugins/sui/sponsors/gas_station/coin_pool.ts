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
interface CoinPoolOptions {
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

/** A coin that is one transaction's alone, until it is given back or its time is over. */
export interface Hold {
  /** The coin, at the version that may be spent. */
  readonly coin: GasCoin;
  /** When its time is over, milliseconds since the epoch; later once it is renewed. */
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
 * version of it, or when its time is over. Then its hold has ended and does nothing any more: the
 * coin may be another's.
 */
export class CoinPool {
  readonly #options: CoinPoolOptions;
  readonly #free = new Map<string, GasCoin>();
  readonly #held = new Map<string, { readonly coin: GasCoin; until: number }>();
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
  async take(): Promise<Hold | undefined> {
    for (let tries = 0; tries < 3; tries++) {
      const hold = this.#pick();
      if (hold !== undefined) return hold;
      // One listing or split serves all who wait.
      this.#refilling ??= this.#refill().finally(() => this.#refilling = undefined);
      await this.#refilling;
    }
    return this.#pick();
  }

  /**
   * Holds a coin for its whole time from now on: a transaction was signed that spends it, or nobody
   * knows whether it was spent.
   *
   * @returns Whether the hold lasts; one that has ended stays so.
   */
  renew(hold: Hold): boolean {
    const held = this.#held.get(hold.coin.objectId);
    if (held !== hold) return false;
    held.until = this.#until();
    return true;
  }

  /** Gives a coin back: at its new version, or as it was when nothing was done with it. */
  put(hold: Hold, coin: GasCoin = hold.coin): void {
    if (this.#end(hold)) this.#free.set(coin.objectId, coin);
  }

  /** Forgets a coin that is not what it was thought to be; the chain is asked for it. */
  forget(hold: Hold): void {
    this.#end(hold);
  }

  /** Ends a hold, unless it has ended. */
  #end(hold: Hold): boolean {
    const { objectId } = hold.coin;
    return this.#held.get(objectId) === hold && this.#held.delete(objectId);
  }

  #until(): number {
    return this.#options.now() + this.#options.holdMs;
  }

  #hold(coin: GasCoin): Hold {
    const hold = { coin, until: this.#until() };
    this.#free.delete(coin.objectId);
    this.#held.set(coin.objectId, hold);
    return hold;
  }

  /** The smallest coin that suffices, so that large ones are left to be split. */
  #pick(): Hold | undefined {
    let best: GasCoin | undefined;
    for (const coin of this.#free.values()) {
      if (coin.balance < this.#options.need) continue;
      if (best === undefined || coin.balance < best.balance) best = coin;
    }
    return best && this.#hold(best);
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
    const holds = coins.map((coin) => this.#hold(coin));
    try {
      const { coins: made, gone } = await this.#options.split(coins, parts);
      for (const id of gone) this.#held.delete(id);
      for (const coin of made) {
        this.#held.delete(coin.objectId);
        this.#free.set(coin.objectId, coin);
      }
    } catch (error) {
      if (isRefusal(error)) holds.forEach((hold) => this.forget(hold));
      throw error;
    }
  }

  async #relist(): Promise<void> {
    const now = this.#options.now();
    for (const coin of await this.#options.list()) {
      const version = BigInt(coin.version);
      const held = this.#held.get(coin.objectId);
      const isHeld = held !== undefined && now < held.until;
      if (isHeld && version <= BigInt(held.coin.version)) continue;
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
