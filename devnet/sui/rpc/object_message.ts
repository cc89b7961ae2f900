import { GrpcTypes } from "@mysten/sui/grpc";
import { coinBalance, coinTypeOf } from "../coin.ts";
import { protoOwner } from "../effects.ts";
import { objectDigest } from "../ids.ts";
import type { ChainObject } from "../object.ts";
import { mask } from "./field_mask.ts";

const DEFAULT_PATHS = ["object_id", "version", "digest"];

/** An object as the protocol has it, with the fields of a read mask. */
export function objectMessage(
  object: ChainObject,
  readMask: { readonly paths: readonly string[] } | undefined,
): GrpcTypes.Object {
  const isPackage = object.type === "package";
  return mask(GrpcTypes.Object, {
    objectId: object.id,
    version: object.version,
    digest: objectDigest(object),
    owner: protoOwner(object.owner),
    objectType: object.type,
    hasPublicTransfer: !isPackage,
    previousTransaction: object.previousTransaction,
    storageRebate: 0n,
    ...(isPackage ? {} : { contents: { name: object.type, value: object.bcs } }),
    ...(coinTypeOf(object.type) === undefined ? {} : { balance: coinBalance(object) }),
  }, readMask?.paths ?? DEFAULT_PATHS);
}

/**
 * A well-formed lie about an object: its content has another byte, and its type and owner are
 * others, so that no check of only one of them finds it out.
 */
export function lieAbout(object: ChainObject): ChainObject {
  const bcs = object.bcs.slice();
  const last = bcs.length - 1;
  if (last >= 0) bcs[last] = (bcs[last] ?? 0) ^ 1;
  return { ...object, bcs, type: object.type.replace(/^0x./, "0xf") };
}
