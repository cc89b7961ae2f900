import type { WalrusClient } from "@mysten/walrus";
import { SvcError } from "../../../src/errors.ts";
import type { Catalogue } from "./catalogue.ts";
import type { Prices } from "./upkeep/plan.ts";

/** The present Walrus epoch, the number of shards, and what storing costs. */
export interface WalrusState {
  readonly epoch: number;
  readonly shards: number;
  readonly prices: Prices;
}

/** What the parts of the store share. */
export interface Ground {
  readonly catalogue: Catalogue;
  readonly state: () => Promise<WalrusState>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: (level: "debug" | "info" | "warn", message: string) => void;
}

/** An epoch lasts a day at least; prices and committee change with it. */
const FRESH_MS = 60_000;

/** Reads the state of Walrus; once a minute it has the client forget what it keeps for ever. */
export class StateReader {
  readonly #walrus: WalrusClient;
  readonly #now: () => number;
  #readAt = -Infinity;

  constructor(walrus: WalrusClient, now: () => number) {
    this.#walrus = walrus;
    this.#now = now;
  }

  /** @throws {SvcError} `storage_unavailable` when the chain does not answer. */
  async state(): Promise<WalrusState> {
    const { committee, storage_price_per_unit_size, write_price_per_unit_size } = await this
      .#read(() => this.#walrus.systemState());
    return {
      epoch: committee.epoch,
      shards: committee.n_shards,
      prices: {
        storage: Number(storage_price_per_unit_size),
        write: Number(write_price_per_unit_size),
      },
    };
  }

  /**
   * When the present epoch began, in milliseconds since the epoch of time; now, while the storage
   * nodes still change over to it.
   *
   * @throws {SvcError} `storage_unavailable` when the chain does not answer.
   */
  async epochStart(): Promise<number> {
    const { epoch_state: state } = await this.#read(() => this.#walrus.stakingState());
    return Number(state.EpochChangeDone ?? state.NextParamsSelected ?? this.#now());
  }

  /**
   * When an epoch begins, in milliseconds since the epoch of time: planned, for one to come.
   *
   * @throws {SvcError} `storage_unavailable` when the chain does not answer.
   */
  async startOf(epoch: number): Promise<number> {
    const { epoch: present, epoch_duration } = await this.#read(() => this.#walrus.stakingState());
    return await this.epochStart() + (epoch - present) * Number(epoch_duration);
  }

  async #read<T>(read: () => Promise<T>): Promise<T> {
    const now = this.#now();
    if (now - this.#readAt > FRESH_MS) {
      this.#walrus.reset();
      this.#readAt = now;
    }
    try {
      return await read();
    } catch (cause) {
      this.#readAt = -Infinity;
      throw new SvcError("storage_unavailable", "The chain does not answer", { cause });
    }
  }
}
