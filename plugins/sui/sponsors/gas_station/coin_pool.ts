import type { SuiClientTypes } from "@mysten/sui/client";
import { isRefusal } from "./sponsor_failure.ts";

/** A coin of SUI at one of its versions; the balance is in MIST. */
export interface GasCoin {
  readonly objectId: string;
  /** Decimal. */
  readonly version: string;
  /** Digest of that version, base58. */
  readonly digest: string;
  readonly balance: bigint;
}

/** What became of coins: those at their new versions, and the ids of those that no longer exist. */
export interface CoinChange {
  readonly coins: readonly GasCoin[];
  readonly gone: readonly string[];
}

/** What a {@linkcode CoinPool} works with; amounts are in MIST. */
interface CoinPoolOptions {
  /** Reads every coin of the wallet from the chain. */
  readonly list: () => Promise<readonly GasCoin[]>;
  /** Merges coins and splits off `parts` equal ones, in one transaction. */
  readonly split: (coins: readonly GasCoin[], parts: number) => Promise<CoinChange>;
  /** The least that a coin must hold. */
  readonly need: bigint;
  /** The most that a split costs. */
  readonly splitGas: bigint;
  /** How long a hold of a coin lasts, milliseconds. */
  readonly holdMs: number;
  readonly now: () => number;
}

/** A coin that belongs to one transaction until it is given back or the hold ends. */
export interface Hold {
  /** The coin at the version that may be spent. */
  readonly coin: GasCoin;
  /** When the hold ends, milliseconds since the epoch; later once it is renewed. */
  readonly until: number;
}

/** Most coins that one split makes. */
const MAX_PARTS = 16;
/** Number of usable coins from which no more are made. */
const ENOUGH = 4;
/** Most small coins that a split merges. */
const MAX_MERGED = 32;

/**
 * The coins of a wallet, each for one transaction at a time: two transactions that spend the same
 * version of a coin would lock it until the epoch ends.
 *
 * A hold ends when its coin is put back, when the chain has a newer version of the coin, or when its
 * time is over. From then on it has no effect, because the coin may belong to another transaction.
 */
export class CoinPool {
  readonly #options: CoinPoolOptions;
  readonly #free = new Map<string, GasCoin>();
  readonly #held = new Map<string, { readonly coin: GasCoin; until: number }>();
  #refilling: Promise<void> | undefined;

  constructor(options: CoinPoolOptions) {
    this.#options = options;
  }

  /** How many coins are held. */
  get held(): number {
    return this.#held.size;
  }

  /**
   * Takes a free coin with the balance that is needed.
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
   * Lets a hold start anew, when a transaction that spends the coin was signed, or when it is not
   * known whether the coin was spent.
   *
   * @returns `false` when the hold has ended.
   */
  renew(hold: Hold): boolean {
    const held = this.#held.get(hold.coin.objectId);
    if (held !== hold) return false;
    held.until = this.#until();
    return true;
  }

  /** Gives a coin back at its new version, or as it was when it was not spent. */
  put(hold: Hold, coin: GasCoin = hold.coin): void {
    if (this.forget(hold)) this.#free.set(coin.objectId, coin);
  }

  /**
   * Forgets a coin whose version was wrong; the next listing reads it from the chain.
   *
   * @returns `false` when the hold has ended.
   */
  forget(hold: Hold): boolean {
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

  /** The smallest coin that suffices, so that large ones remain to be split. */
  #pick(): Hold | undefined {
    let best: GasCoin | undefined;
    for (const coin of this.#free.values()) {
      if (coin.balance < this.#options.need) continue;
      if (best === undefined || coin.balance < best.balance) best = coin;
    }
    return best && this.#hold(best);
  }

  /** Lists the coins; splits one when few are left, or merges many small ones into one. */
  async #refill(): Promise<void> {
    await this.#relist();
    const { need, splitGas } = this.#options;
    const free = [...this.#free.values()].sort((a, b) => a.balance < b.balance ? 1 : -1);
    const usable = free.findIndex(({ balance }) => balance < need);
    const [largest] = free;
    if (largest === undefined || (usable < 0 ? free.length : usable) >= ENOUGH) return;
    const crumbs = free.slice(1).filter(({ balance }) => balance < need).slice(0, MAX_MERGED);
    const sum = crumbs.reduce((total, { balance }) => total + balance, largest.balance) - splitGas;
    // Coins of twice the need last for some transactions, as few cost the most they may.
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
      // A node may be behind the result of an execution.
      if (known === undefined || version > BigInt(known.version)) {
        this.#free.set(coin.objectId, coin);
      }
    }
  }
}

/** What the effects of a transaction say about the coins that it spent as gas, the first one's rest. */
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
