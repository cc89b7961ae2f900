import { bcs } from "@mysten/sui/bcs";
import { normalizeSuiAddress } from "@mysten/sui/utils";
import { textDigest } from "./ids.ts";
import { addressBytes, type ChainObject, concat, normalizeType } from "./object.ts";

/** Id of the clock: `0x6`. */
export const CLOCK_ID = normalizeSuiAddress("0x6");

/** Type of the clock. */
export const CLOCK_TYPE = normalizeType("0x2::clock::Clock");

/** The clock object (`id`, `timestamp_ms`) at a time. @param now Milliseconds since the epoch. */
export function clockObject(now: number, version: number): ChainObject {
  return {
    id: CLOCK_ID,
    version: BigInt(version),
    type: CLOCK_TYPE,
    owner: { kind: "shared", since: 1n },
    bcs: concat(addressBytes(CLOCK_ID), bcs.u64().serialize(now).toBytes()),
    previousTransaction: textDigest("genesis"),
  };
}
