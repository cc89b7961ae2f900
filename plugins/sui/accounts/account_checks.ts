import { bcs } from "@mysten/sui/bcs";
import type { GrpcTypes } from "@mysten/sui/grpc";
import { normalizeStructTag, normalizeSuiAddress } from "@mysten/sui/utils";
import {
  ACCOUNT_VERSIONS,
  accountIn,
  accountType,
  accountVersion,
  type ChainAccount,
  delegateFieldId,
  ownerFieldId,
} from "../chain/account_object.ts";

/** Values of `Owner.OwnerKind` in sui.rpc.v2. */
const OBJECT_OWNED = 2;
const SHARED = 3;

/** Bytes of an account's content up to the end of its version. */
const VERSION_END = 40;

/** Hex characters of an id, without `0x`. */
const ID_CHARS = 64;

/** The contract whose accounts are trusted: the package's first version, which names its types. */
export interface Contract {
  readonly packageId: string;
  readonly registryId: string;
}

/** An object as a node describes it; every member may be missing or wrong. */
export type NodeObject = GrpcTypes.Object;

function isType(object: NodeObject, type: string): boolean {
  try {
    return normalizeStructTag(object.objectType ?? "") === normalizeStructTag(type);
  } catch {
    return false;
  }
}

function isId(given: string | undefined, id: string): boolean {
  return given !== undefined && normalizeSuiAddress(given) === id;
}

/**
 * The account in an object, or why there is none. `foreign`: the object has another type. `version`:
 * the account has a version that this release does not know. `unsound`: no chain can hold such an
 * object, so the node is at fault.
 */
type AccountReading = { readonly account: ChainAccount } | {
  readonly reason: "foreign" | "version" | "unsound";
};

/**
 * Reads the account in an object, which must have exactly our type, be shared, and name the id that
 * was asked for both beside and in its content.
 */
export function readAccount(object: NodeObject, id: string, packageId: string): AccountReading {
  if (!isId(object.objectId, id) || object.objectType === undefined) return { reason: "unsound" };
  if (!isType(object, accountType(packageId))) return { reason: "foreign" };
  const content = object.contents?.value;
  // The contract shares every account, and a published type never changes its form.
  const isShared = object.owner?.kind === SHARED && content !== undefined;
  if (!isShared || !content.toHex().startsWith(id.slice(2)) || content.length < VERSION_END) {
    return { reason: "unsound" };
  }
  if (!ACCOUNT_VERSIONS.includes(Number(accountVersion(content)))) return { reason: "version" };
  const account = accountIn(content, id);
  return account === undefined ? { reason: "unsound" } : { account };
}

/** A field of the registry: where it is, and how to read it. */
export interface IndexField {
  /** Id of the field's object. */
  readonly fieldId: string;
  /** The account id that the field's object names; `undefined` when it is another object. */
  accountId(object: NodeObject): string | undefined;
}

/**
 * A field of one of the registry's indices, by the name of its key. Its object is `Field { id, name,
 * value }`: the id, the key and the account's id, without anything in between.
 */
function indexField(
  { packageId, registryId }: Contract,
  name: string,
  key: Uint8Array,
  fieldId: string,
): IndexField {
  const type = `0x2::dynamic_field::Field<${packageId}::account::${name},0x2::object::ID>`;
  const head = fieldId + key.toHex();
  return {
    fieldId,
    accountId(object) {
      const isIt = isId(object.objectId, fieldId) && isType(object, type) &&
        object.owner?.kind === OBJECT_OWNED && isId(object.owner.address, registryId);
      const content = `0x${object.contents?.value?.toHex()}`;
      const isWhole = content.startsWith(head) && content.length === head.length + ID_CHARS;
      return isIt && isWhole ? `0x${content.slice(head.length)}` : undefined;
    },
  };
}

/**
 * The field that names a delegate key's account.
 *
 * @param publicKey 64 lower-case hex characters.
 */
export function keyField(contract: Contract, publicKey: string): IndexField {
  const key = bcs.byteVector().serialize(Uint8Array.fromHex(publicKey)).toBytes();
  const fieldId = delegateFieldId(contract.registryId, contract.packageId, publicKey);
  return indexField(contract, "DelegateIndex", key, fieldId);
}

/**
 * The field that names an owner's account.
 *
 * @param owner `0x` and 64 lower-case hex characters.
 */
export function ownerField(contract: Contract, owner: string): IndexField {
  const key = bcs.Address.serialize(owner).toBytes();
  const fieldId = ownerFieldId(contract.registryId, contract.packageId, owner);
  return indexField(contract, "OwnerKey", key, fieldId);
}
