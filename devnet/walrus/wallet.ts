import type { Chain } from "../sui/chain.ts";
import { coinBalance, coinObjectType } from "../sui/coin.ts";
import type { Tx } from "../sui/tx.ts";

/** The coins of an address that acts by itself. */
export class Wallet {
  readonly #chain: Chain;
  readonly #coinType: string;
  /** Its address. */
  readonly address: string;

  /** @param coinType Type of the currency it pays with. */
  constructor(chain: Chain, address: string, coinType: string) {
    this.#chain = chain;
    this.address = address;
    this.#coinType = coinType;
  }

  /** What it has, in the smallest unit. */
  get balance(): bigint {
    return this.#chain.balanceOf(this.address, this.#coinType);
  }

  /** Joins its coins in a transaction. Returns the id of the one; undefined when it has none. */
  coin(tx: Tx): string | undefined {
    const type = coinObjectType(this.#coinType);
    const [first, ...others] = this.#chain.objects.ownedBy(this.address)
      .filter((object) => object.type === type)
      .map(({ id }) => tx.get(id));
    if (first === undefined) return undefined;
    if (others.length > 0) {
      const sum = [first, ...others].reduce((total, coin) => total + coinBalance(coin), 0n);
      for (const { id } of others) tx.del(id);
      tx.setBalance(first.id, sum);
    }
    return first.id;
  }
}
