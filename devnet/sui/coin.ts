import { bcs } from "@mysten/sui/bcs";
import { ExecutionFailure } from "./failure.ts";
import { type ChainObject, normalizeType } from "./object.ts";

/** Type of the coin that pays gas. */
export const SUI_TYPE = normalizeType("0x2::sui::SUI");

const PREFIX = `${normalizeType("0x2::coin::Coin")}<`;

/** BCS of `0x2::coin::Coin<T>`. */
export const Coin = bcs.struct("Coin", { id: bcs.Address, balance: bcs.u64() });

/** Canonical type of a coin object. @param coinType Type of the currency. */
export function coinObjectType(coinType: string): string {
  return `${PREFIX}${normalizeType(coinType)}>`;
}

/** Currency of a coin object's type; undefined when it is no coin. */
export function coinTypeOf(objectType: string): string | undefined {
  return objectType.startsWith(PREFIX) ? objectType.slice(PREFIX.length, -1) : undefined;
}

/** Balance of a coin object in its smallest unit. */
export function coinBalance(object: Pick<ChainObject, "type" | "bcs">): bigint {
  if (coinTypeOf(object.type) === undefined) {
    throw new ExecutionFailure("COMMAND_ARGUMENT_ERROR", "argument is not a coin");
  }
  return BigInt(Coin.parse(object.bcs).balance);
}

/** BCS of a coin object. */
export function coinBytes(id: string, balance: bigint): Uint8Array {
  return Coin.serialize({ id, balance }).toBytes();
}
