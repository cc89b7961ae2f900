import { normalizeSuiAddress } from "@mysten/sui/utils";
import { bcs } from "@mysten/sui/bcs";
import type { Chain } from "../sui/chain.ts";
import { normalizeType } from "../sui/object.ts";
import { Committee } from "./committee.ts";
import { StakingPool, StakingState, SystemState, Versioned } from "./layouts.ts";

/** Version of the system and staking objects, which names the field of their inner object. */
const VERSION = 2n;
const NOBODY = normalizeSuiAddress("0x0");

/** How many epochs ahead storage can be reserved. */
export const MAX_EPOCHS_AHEAD = 53;

/** FROST (10^-9 WAL) per MiB and epoch of storage, and per MiB of a registration. */
export interface Prices {
  /** Per unit and epoch. */
  readonly storage: bigint;
  /** Per unit, once. */
  readonly write: bigint;
}

/** Options of a {@linkcode WalrusSystem}. */
export interface SystemOptions {
  /** Number of shards. */
  readonly shards: number;
  /** Number of storage nodes. */
  readonly nodes: number;
  /** Decides the nodes' keys. */
  readonly seed: number;
  /** Prices; those of a local network when absent. */
  readonly prices?: Prices;
  /** `host:port/path` of a node, without scheme. */
  readonly nodeAddress: (index: number) => string;
}

/** The Walrus package on a chain: its system and staking objects, committee and epoch. */
export class WalrusSystem {
  /** The chain it is on. */
  readonly chain: Chain;
  /** Id of the `walrus` package. */
  readonly packageId: string;
  /** Id of the `system::System` object. */
  readonly systemId: string;
  /** Id of the `staking::Staking` object. */
  readonly stakingId: string;
  /** Type of the coin that storage is paid in. */
  readonly walType: string;
  /** The storage nodes. */
  readonly committee: Committee;
  /** What storage costs. */
  readonly prices: Prices;
  readonly #nodeAddress: (index: number) => string;
  readonly #pools: readonly string[];
  #epoch = 1;
  /** When the epoch began, milliseconds since the epoch of time. */
  #since: number;

  /** Writes the objects of the package to the chain. */
  constructor(chain: Chain, options: SystemOptions) {
    this.chain = chain;
    this.packageId = chain.publish(chain.freshId());
    this.walType = normalizeType(`${chain.publish(chain.freshId())}::wal::WAL`);
    this.systemId = normalizeSuiAddress(chain.freshId());
    this.stakingId = normalizeSuiAddress(chain.freshId());
    this.prices = options.prices ?? { storage: 11_000n, write: 20_000n };
    this.#pools = Array.from({ length: options.nodes }, () => normalizeSuiAddress(chain.freshId()));
    this.committee = new Committee(options.shards, this.#pools, options.seed);
    this.#nodeAddress = options.nodeAddress;
    this.#since = chain.now();
    this.reload();
  }

  /** Takes the epoch from the chain, if an earlier run left one, and writes the objects. */
  reload(): void {
    const name = bcs.u64().serialize(VERSION).toBytes();
    const value = this.chain.begin(this.stakingId, "reload").getField(this.stakingId, "u64", name);
    if (value !== undefined) {
      const { epoch, epoch_state: state } = StakingState.parse(value);
      this.#epoch = Math.max(epoch, this.#epoch);
      this.#since = Number(state.EpochChangeDone ?? this.#since);
    }
    this.#write();
  }

  /** The current epoch. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Canonical type of a struct of the package. @param name `module::Struct`. */
  type(name: string): string {
    return normalizeType(`${this.packageId}::${name}`);
  }

  /** Goes to a later epoch: storage that ends by then is over. */
  setEpoch(epoch: number): void {
    if (epoch < this.#epoch) throw new RangeError("epochs only go forward");
    if (epoch > this.#epoch) this.#since = this.chain.now();
    this.#epoch = epoch;
    this.#writeStates();
  }

  /** Begins the next epoch. */
  advanceEpoch(): void {
    this.setEpoch(this.#epoch + 1);
  }

  #write(): void {
    for (
      const [id, name] of [[this.systemId, "system::System"], [this.stakingId, "staking::Staking"]]
    ) {
      this.chain.put({
        id: id ?? "",
        type: this.type(name ?? ""),
        owner: { kind: "shared", since: 1n },
        bcs: Versioned.serialize({
          id: id ?? "",
          version: VERSION,
          package_id: this.packageId,
          new_package_id: null,
        }).toBytes(),
      });
    }
    this.#pools.forEach((_, index) => this.#writePool(index));
    this.#writeStates();
  }

  #writeStates(): void {
    this.#writeInner(this.systemId, "system_state_inner::SystemStateInnerV1", this.#systemState());
    this.#writeInner(this.stakingId, "staking_inner::StakingInnerV1", this.#stakingState());
  }

  #writeInner(parent: string, valueType: string, value: Uint8Array): void {
    this.chain.setField({
      parent,
      nameType: "u64",
      name: bcs.u64().serialize(VERSION).toBytes(),
      valueType: this.type(valueType),
    }, value);
  }

  #systemState(): Uint8Array {
    const { committee } = this;
    return SystemState.serialize({
      committee: {
        members: committee.nodes.map((node) => ({
          public_key: { bytes: node.publicKey },
          weight: node.shards.length,
          node_id: node.id,
        })),
        n_shards: committee.shards,
        epoch: this.#epoch,
        total_aggregated_key: { bytes: committee.aggregateKey },
      },
      total_capacity_size: 10n ** 15n,
      used_capacity_size: 0,
      storage_price_per_unit_size: this.prices.storage,
      write_price_per_unit_size: this.prices.write,
      future_accounting: { current_index: 0, length: 0, ring_buffer: [] },
      event_blob_certification_state: {
        latest_certified_blob: null,
        aggregate_weight_per_blob: [],
      },
      deny_list_sizes: NOBODY,
    }).toBytes();
  }

  #stakingState(): Uint8Array {
    const shards = this.committee.nodes.map((node) => ({ key: node.id, value: [...node.shards] }));
    return StakingState.serialize({
      n_shards: this.committee.shards,
      epoch_duration: 86_400_000,
      first_epoch_start: 1,
      pools: [NOBODY, 0],
      epoch: this.#epoch,
      active_set: NOBODY,
      next_committee: null,
      committee: shards,
      previous_committee: shards,
      next_epoch_params: null,
      epoch_state: { EpochChangeDone: this.#since },
      next_epoch_public_keys: NOBODY,
    }).toBytes();
  }

  #writePool(index: number): void {
    const node = this.committee.nodes[index];
    if (node === undefined) return;
    this.chain.put({
      id: node.id,
      type: this.type("staking_pool::StakingPool"),
      owner: { kind: "object", parent: this.stakingId },
      bcs: StakingPool.serialize({
        id: node.id,
        state: { Active: true },
        voting_params: [0, 0, 0],
        node_info: {
          name: `node-${index}`,
          node_id: node.id,
          network_address: this.#nodeAddress(index),
          public_key: { bytes: node.publicKey },
          next_epoch_public_key: null,
          network_public_key: [],
          metadata: NOBODY,
        },
        activation_epoch: 0,
        latest_epoch: 0,
        wal_balance: 0,
        num_shares: 0,
        pending_shares_withdraw: [],
        pre_active_withdrawals: [],
        pending_commission_rate: [],
        commission_rate: 0,
        exchange_rates: [NOBODY, 0],
        pending_stake: [],
        rewards_pool: 0,
        commission: 0,
        commission_receiver: { Address: NOBODY },
        governance_authorized: { Address: NOBODY },
        extra_fields: [NOBODY, 0],
      }).toBytes(),
    });
  }
}
