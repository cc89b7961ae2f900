import { Buffer } from "node:buffer";
import { bcs } from "@mysten/sui/bcs";
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
  return new Uint8Array(Buffer.concat(parts));
}
