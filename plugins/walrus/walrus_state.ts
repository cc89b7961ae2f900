import type { WalrusClient } from "@mysten/walrus";
import { SvcError } from "../../src/errors.ts";
import type { WalrusState } from "./upkeep/upkeep.ts";

/** An epoch lasts a day at least; prices and committee change with it. */
const FRESH_MS = 60_000;

/**
 * Reads the state of Walrus, and again when it is a minute old: the client keeps what it has read
 * once for ever.
 */
export class StateReader {
  readonly #walrus: Pick<WalrusClient, "systemState" | "reset">;
  readonly #now: () => number;
  #readAt = -Infinity;

  /** Contacts nothing by itself. */
  constructor(walrus: Pick<WalrusClient, "systemState" | "reset">, now: () => number) {
    this.#walrus = walrus;
    this.#now = now;
  }

  /**
   * Epoch, shards and prices.
   * @throws {SvcError} `storage_unavailable` when the chain does not answer.
   */
  async state(): Promise<WalrusState> {
    const now = this.#now();
    if (now - this.#readAt > FRESH_MS) {
      this.#walrus.reset();
      this.#readAt = now;
    }
    try {
      const { committee, storage_price_per_unit_size, write_price_per_unit_size } = await this
        .#walrus.systemState();
      return {
        epoch: committee.epoch,
        shards: committee.n_shards,
        prices: {
          storage: Number(storage_price_per_unit_size),
          write: Number(write_price_per_unit_size),
        },
      };
    } catch (cause) {
      this.#readAt = -Infinity;
      throw new SvcError("storage_unavailable", "The chain does not answer", { cause });
    }
  }
}
