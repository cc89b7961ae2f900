import { fromBase58, toHex } from "@mysten/sui/utils";
import { blake2b } from "@noble/hashes/blake2.js";

/** First byte of what a new object's id is the hash of (`HashingIntentScope::RegularObjectId`). */
const REGULAR_OBJECT_ID = 0xf1;

/**
 * Ids of the objects that a transaction creates, packages included, in their order: BLAKE2b-256 of
 * `0xf1 | digest (32) | number from 0 (u64, little-endian)`. So they are known without a node.
 *
 * @param digest Of the transaction, Base58.
 * @param count How many; a transaction may create fewer.
 * @returns `0x` and 64 lower-case hex characters each.
 */
export function createdIds(digest: string, count: number): string[] {
  const preimage = new Uint8Array(1 + 32 + 8);
  preimage[0] = REGULAR_OBJECT_ID;
  preimage.set(fromBase58(digest), 1);
  return Array.from({ length: count }, (_, number) => {
    new DataView(preimage.buffer).setBigUint64(33, BigInt(number), true);
    return "0x" + toHex(blake2b(preimage, { dkLen: 32 }));
  });
}
