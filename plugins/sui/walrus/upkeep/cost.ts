import { encodedBytes } from "../quilt/geometry.ts";

/** Prices of Walrus, in FROST (1 WAL = 10^9) for each MiB of the encoded size, begun ones whole. */
export interface Prices {
  /** For each epoch. */
  readonly storage: number;
  /** Once. */
  readonly write: number;
}

/** What a cost depends on besides the blob. */
export interface CostModel {
  /** Prices of this epoch. */
  readonly prices: Prices;
  /** Shards of the network. */
  readonly shards: number;
  /** Epochs a blob is paid for. */
  readonly epochs: number;
}

const MIB = 1_048_576;

/** What storing a blob of some bytes costs, in FROST; gas is left out. */
export function storeCost(bytes: number, { prices, shards, epochs }: CostModel): number {
  return Math.ceil(encodedBytes(bytes, shards) / MIB) * (prices.storage * epochs + prices.write);
}

/**
 * What storing a blob again at its end costs within the next `epochs`, by the epoch: those that are
 * paid already, `left`, cannot be had back. A blob that was paid this moment saves nothing.
 */
export function renewalCost(bytes: number, left: number, model: CostModel): number {
  return storeCost(bytes, model) * Math.max(0, model.epochs - left) / model.epochs;
}
