import { bcs } from "@mysten/sui/bcs";
import { toBase58 } from "@mysten/sui/utils";
import { blake2b } from "@noble/hashes/blake2.js";
import type { GasCoin } from "./coin_pool.ts";

/** A transaction that somebody else pays for. */
interface PaidTransaction {
  /** Address of the sender. */
  readonly sender: string;
  /** BCS of its kind, taken over byte for byte. */
  readonly kindBytes: Uint8Array;
  /** Address that pays. */
  readonly owner: string;
  /** The coin it pays with. */
  readonly coin: GasCoin;
  /** MIST for a unit of gas. */
  readonly price: bigint;
  /** Most it may cost, MIST. */
  readonly budget: bigint;
  /** Last epoch in which it may be executed. */
  readonly lastEpoch: bigint;
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
    bcs.GasData.serialize({
      payment: [{ objectId, version, digest }],
      owner,
      price,
      budget,
    }).toBytes(),
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
