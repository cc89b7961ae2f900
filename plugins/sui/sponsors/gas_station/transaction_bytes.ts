import { bcs } from "@mysten/sui/bcs";
import { toBase58 } from "@mysten/sui/utils";
import { blake2b } from "@noble/hashes/blake2.js";
import type { GasCoin } from "./coin_pool.ts";
import type { GasTerms } from "./node.ts";

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
const SALT = new TextEncoder().encode("TransactionData::");

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
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Digest of a transaction: BLAKE2b-256 over `TransactionData::` and its BCS, base58. */
export function digestOf(bytes: Uint8Array): string {
  return toBase58(blake2b.create({ dkLen: 32 }).update(SALT).update(bytes).digest());
}
