import { blake2b } from "@noble/hashes/blake2.js";
import { SvcError } from "../errors.ts";
import type { SponsoredTransaction, SponsorRequest } from "../interfaces/mod.ts";
import { base58 } from "@scure/base";
import { BcsReader } from "./bcs_reader.ts";

/** What the digest of a transaction is taken over, before its bytes. */
const SALT = new TextEncoder().encode("TransactionData::");

/** Digest of a transaction: BLAKE2b-256 over `TransactionData::` and its BCS, base58. */
export function transactionDigest(bytes: Uint8Array): string {
  return base58.encode(blake2b.create({ dkLen: 32 }).update(SALT).update(bytes).digest());
}

/** The gas data behind kind and sender: payment (references), owner, price, budget. */
function readBudget(reader: BcsReader, sender: string): bigint {
  for (let coins = reader.uleb(); coins > 0; coins--) {
    reader.address();
    reader.u64();
    if (reader.bytes().length !== 32) throw new Error("A digest has 32 bytes");
  }
  if (reader.address() === sender) throw new Error("the sender would pay");
  reader.u64();
  return reader.u64();
}

/**
 * The gas budget of what a sponsor answered, in MIST, once it is sure that it is the transaction
 * that was asked for and that somebody else pays for it: a wallet is about to sign it.
 *
 * @throws {SvcError} `sponsor_upstream_error` for another transaction, or another digest than its own.
 */
export function answeredBudget(
  { bytes, digest }: SponsoredTransaction,
  { sender, kindBytes }: SponsorRequest,
): number {
  try {
    const reader = new BcsReader(bytes);
    // TransactionData::V1, then kind and sender as they were sent.
    const head = `00${kindBytes.toHex()}${sender.slice(2)}`;
    if (reader.take(head.length / 2).toHex() !== head) throw new Error("another transaction");
    const budget = Number(readBudget(reader, sender));
    if (!Number.isSafeInteger(budget)) throw new Error("no such budget");
    if (transactionDigest(bytes) !== digest) throw new Error("another digest");
    return budget;
  } catch (cause) {
    throw new SvcError("sponsor_upstream_error", "The sponsor's answer cannot be used", { cause });
  }
}
