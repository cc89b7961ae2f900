import { GrpcTypes } from "@mysten/sui/grpc";
import { coinBalance, coinTypeOf } from "../coin.ts";
import { protoOwner } from "../effects.ts";
import { objectDigest } from "../ids.ts";
import { type ChainObject, ownedBy } from "../object.ts";
import { mask } from "./field_mask.ts";

/** Who owns things when the node lies. */
const LIAR = "0x11a4";
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
 * A well-formed lie about an object: it is of the same name in another package, as a look-alike
 * would be, its last byte is another, and an owned one belongs to somebody else.
 */
export function lieAbout(object: ChainObject): ChainObject {
  const bcs = object.bcs.slice();
  const last = bcs.length - 1;
  if (last >= 0) bcs[last] = (bcs[last] ?? 0) ^ 1;
  const owner = object.owner.kind === "address" ? ownedBy(LIAR) : object.owner;
  return { ...object, bcs, owner, type: object.type.replace(/^0x./, "0xf") };
}
