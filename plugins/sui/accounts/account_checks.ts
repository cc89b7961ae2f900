import { bcs, type BcsType } from "@mysten/sui/bcs";
import type { GrpcTypes } from "@mysten/sui/grpc";
import { normalizeStructTag, normalizeSuiAddress } from "@mysten/sui/utils";
import type { Account } from "../../../src/interfaces/mod.ts";
import {
  AccountObject,
  accountType,
  delegateFieldId,
  ownerFieldId,
  parseAccount,
} from "../chain/account_object.ts";

/** Versions of an account's data that are understood. */
const VERSIONS: readonly number[] = [1];

/** `Owner.OwnerKind` of sui.rpc.v2: fields of an object belong to it, shared ones to nobody. */
const OBJECT_OWNED = 2;
const SHARED = 3;

/** BCS of the fields of the registry: `Field { id, name, value }`. */
const KeyField = bcs.struct("Field", {
  id: bcs.Address,
  name: bcs.struct("DelegateIndex", { public_key: bcs.byteVector() }),
  value: bcs.Address,
});
const OwnerField = bcs.struct("Field", {
  id: bcs.Address,
  name: bcs.struct("OwnerKey", { owner: bcs.Address }),
  value: bcs.Address,
});

/** The contract whose accounts are believed. */
export interface Contract {
  /** First version of the package: the one its types are named by. */
  readonly packageId: string;
  /** Its registry. */
  readonly registryId: string;
}

/** An object as a node tells of it; every member may be missing or wrong. */
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

/** What the bytes say, if they say it exactly: none missing, none left. */
function parseExactly<T extends I, I>(
  layout: BcsType<T, I>,
  bytes: Uint8Array | undefined,
): T | undefined {
  if (bytes === undefined) return undefined;
  try {
    // A copy: the reader would go on into the bytes of the next object.
    const parsed = layout.parse(bytes.slice());
    return layout.serialize(parsed).toBytes().toHex() === bytes.toHex() ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** An answer about an object, and why it is no account of ours. */
type AccountReading = { readonly account: Account } | {
  /**
   * `foreign`: an object of another type; `version`: the account is ours and of a version this
   * release does not know; `unsound`: no chain holds such an object, so that the node is at fault.
   */
  readonly reason: "foreign" | "version" | "unsound";
};

/**
 * The account of an object, where it is one: of exactly our type, shared, with the id that was
 * asked for in what the node says and in its content, which must be whole.
 */
export function readAccount(object: NodeObject, id: string, packageId: string): AccountReading {
  if (!isId(object.objectId, id) || object.objectType === undefined) return { reason: "unsound" };
  if (!isType(object, accountType(packageId))) return { reason: "foreign" };
  const content = object.contents?.value;
  // The contract shares every account, and a published type never changes its form.
  const sound = object.owner?.kind === SHARED && content !== undefined &&
    parseExactly(AccountObject, content)?.id === id;
  if (!sound) return { reason: "unsound" };
  const { version, generation: _, ...account } = parseAccount(content.slice());
  return VERSIONS.includes(version) ? { account } : { reason: "version" };
}

function isField(object: NodeObject, id: string, name: string, contract: Contract): boolean {
  const type = `0x2::dynamic_field::Field<${contract.packageId}::account::${name},0x2::object::ID>`;
  return isId(object.objectId, id) && isType(object, type) &&
    object.owner?.kind === OBJECT_OWNED && isId(object.owner.address, contract.registryId);
}

/** A field of the registry: where it is, and what it says. */
export interface IndexField {
  /** Id of the field's object. */
  readonly fieldId: string;
  /** Id of the account that the field's object names; `undefined` when it is not that field. */
  accountId(object: NodeObject): string | undefined;
}

/**
 * The field that names a delegate key's account.
 *
 * @param publicKey 64 lower-case hex characters.
 */
export function keyField(contract: Contract, publicKey: string): IndexField {
  const fieldId = delegateFieldId(contract.registryId, contract.packageId, publicKey);
  return {
    fieldId,
    accountId(object) {
      if (!isField(object, fieldId, "DelegateIndex", contract)) return undefined;
      const field = parseExactly(KeyField, object.contents?.value);
      if (field?.id !== fieldId) return undefined;
      return new Uint8Array(field.name.public_key).toHex() === publicKey ? field.value : undefined;
    },
  };
}

/**
 * The field that names an owner's account.
 *
 * @param owner `0x` and 64 lower-case hex characters.
 */
export function ownerField(contract: Contract, owner: string): IndexField {
  const fieldId = ownerFieldId(contract.registryId, contract.packageId, owner);
  return {
    fieldId,
    accountId(object) {
      if (!isField(object, fieldId, "OwnerKey", contract)) return undefined;
      const field = parseExactly(OwnerField, object.contents?.value);
      return field?.id === fieldId && field.name.owner === owner ? field.value : undefined;
    },
  };
}
