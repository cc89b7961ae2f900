import { blobIdNumber } from "./blob_id.ts";
import { bcs } from "@mysten/sui/bcs";

/** A unit of storage that is paid for: 1 MiB. */
const UNIT = 1_048_576n;

/** Shards that may fail: f = (n - 1) / 3. */
export function maxFaulty(shards: number): number {
  return Math.floor((shards - 1) / 3);
}

/** Source symbols of the two dimensions of RS2: n - 2f rows and n - f columns. */
export function sourceSymbols(shards: number): { primary: number; secondary: number } {
  const faulty = maxFaulty(shards);
  return { primary: shards - 2 * faulty, secondary: shards - faulty };
}

/** Bytes of a symbol of a blob of `size` bytes: a whole, even number, at least 2. */
export function symbolSize(size: number, shards: number): number {
  const { primary, secondary } = sourceSymbols(shards);
  const exact = Math.floor((Math.max(size, 1) - 1) / (primary * secondary)) + 1;
  return exact + exact % 2;
}

/**
 * Bytes that all storage nodes together store of a blob: slivers, and per shard the metadata
 * (64 bytes of hashes per shard and a blob id).
 */
export function encodedLength(size: number, shards: number): number {
  const { primary, secondary } = sourceSymbols(shards);
  return shards * ((primary + secondary) * symbolSize(size, shards) + shards * 64 + 32);
}

/** The largest blob: symbols of 65,534 bytes, in every place. */
export function maxBlobSize(shards: number): number {
  const { primary, secondary } = sourceSymbols(shards);
  return primary * secondary * 65_534;
}

/** Paid units of an encoded length. */
export function storageUnits(encoded: bigint): bigint {
  return (encoded + UNIT - 1n) / UNIT;
}

function rotation(blobId: string, shards: number): number {
  const bytes = bcs.u256().serialize(blobIdNumber(blobId) ?? 0n).toBytes();
  return bytes.reduce((sum, byte) => (sum * 256 + byte) % shards, 0);
}

/** Sliver pair that a shard stores of a blob: each blob begins at another shard. */
export function pairOfShard(shard: number, blobId: string, shards: number): number {
  return (shards + shard - rotation(blobId, shards)) % shards;
}

/** Shard that stores a sliver pair of a blob. */
export function shardOfPair(pair: number, blobId: string, shards: number): number {
  return (pair + rotation(blobId, shards)) % shards;
}
