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

/** Versions of an account's data that this release reads. */
const VERSIONS: readonly number[] = [1];

/** Values of `Owner.OwnerKind` in sui.rpc.v2. */
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

/** Parses bytes of which none may be missing or left over. */
function parseExactly<T extends I, I>(
  layout: BcsType<T, I>,
  bytes: Uint8Array | undefined,
): T | undefined {
  if (bytes === undefined) return undefined;
  try {
    // A copy, because the reader would go on into the bytes of the next object.
    const parsed = layout.parse(bytes.slice());
    return layout.serialize(parsed).toBytes().toHex() === bytes.toHex() ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The account in an object, or why there is none. `foreign`: the object has another type. `version`:
 * the account has a version that this release does not know. `unsound`: no chain can hold such an
 * object, so the node is at fault.
 */
type AccountReading = { readonly account: Account } | {
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
  const sound = object.owner?.kind === SHARED && content !== undefined &&
    parseExactly(AccountObject, content)?.id === id;
  if (!sound) return { reason: "unsound" };
  const { version, generation: _, ...account } = parseAccount(content.slice());
  return VERSIONS.includes(version) ? { account } : { reason: "version" };
}

/** A field of the registry: where it is, and how to read it. */
export interface IndexField {
  /** Id of the field's object. */
  readonly fieldId: string;
  /** The account id that the field's object names; `undefined` when it is another object. */
  accountId(object: NodeObject): string | undefined;
}

/** A field of one of the registry's indices, by the name of its key and the layout of its object. */
function indexField<F extends I & { readonly id: string; readonly value: string }, I>(
  { packageId, registryId }: Contract,
  fieldId: string,
  [name, layout]: readonly [name: string, layout: BcsType<F, I>],
  isNamed: (field: F) => boolean,
): IndexField {
  const type = `0x2::dynamic_field::Field<${packageId}::account::${name},0x2::object::ID>`;
  return {
    fieldId,
    accountId(object) {
      const isIt = isId(object.objectId, fieldId) && isType(object, type) &&
        object.owner?.kind === OBJECT_OWNED && isId(object.owner.address, registryId);
      const field = isIt ? parseExactly<F, I>(layout, object.contents?.value) : undefined;
      return field?.id === fieldId && isNamed(field) ? field.value : undefined;
    },
  };
}

/**
 * The field that names a delegate key's account.
 *
 * @param publicKey 64 lower-case hex characters.
 */
export function keyField(contract: Contract, publicKey: string): IndexField {
  const fieldId = delegateFieldId(contract.registryId, contract.packageId, publicKey);
  const isNamed = ({ name }: typeof KeyField.$inferType) =>
    new Uint8Array(name.public_key).toHex() === publicKey;
  return indexField(contract, fieldId, ["DelegateIndex", KeyField], isNamed);
}

/**
 * The field that names an owner's account.
 *
 * @param owner `0x` and 64 lower-case hex characters.
 */
export function ownerField(contract: Contract, owner: string): IndexField {
  const fieldId = ownerFieldId(contract.registryId, contract.packageId, owner);
  const isNamed = ({ name }: typeof OwnerField.$inferType) => name.owner === owner;
  return indexField(contract, fieldId, ["OwnerKey", OwnerField], isNamed);
}
