import { deriveDynamicFieldID, normalizeStructTag, normalizeSuiAddress } from "@mysten/sui/utils";
import { bcs } from "@mysten/sui/bcs";

/** Who may use an object, and how. */
export type Owner =
  | { readonly kind: "address"; readonly address: string }
  /** Child of another object: a dynamic field. */
  | { readonly kind: "object"; readonly parent: string }
  /** Usable by everybody since a version; 0 in a transaction that shares it. */
  | { readonly kind: "shared"; readonly since: bigint }
  | { readonly kind: "immutable" }
  /** A value of the running transaction that must be transferred or consumed before its end. */
  | { readonly kind: "held" };

/** Name and value type of a dynamic field, kept beside its object for listings. */
export interface FieldInfo {
  /** Object the field hangs on. */
  readonly parent: string;
  /** Type of the name. */
  readonly nameType: string;
  /** BCS of the name. */
  readonly name: Uint8Array;
  /** Type of the value. */
  readonly valueType: string;
}

/** An object of the chain at one version. */
export interface ChainObject {
  /** 0x and 64 hex characters. */
  readonly id: string;
  /** Lamport version of the transaction that wrote it last. */
  readonly version: bigint;
  /** Canonical struct tag, or `package`. */
  readonly type: string;
  /** Its owner. */
  readonly owner: Owner;
  /** BCS of the Move struct; of a package: nothing. */
  readonly bcs: Uint8Array;
  /** Digest of the transaction that wrote it last. */
  readonly previousTransaction: string;
  /** Present when it is a dynamic field. */
  readonly field?: FieldInfo;
}

/** What is needed to write an object; the chain fills in the rest. */
export interface ObjectSpec {
  /** Id, in any accepted spelling. */
  readonly id: string;
  /** Struct tag in any spelling, or `package`. */
  readonly type: string;
  /** Its owner. */
  readonly owner: Owner;
  /** BCS of the Move struct. */
  readonly bcs: Uint8Array;
  /** Present when it is a dynamic field. */
  readonly field?: FieldInfo;
}

/** Owner: an address. */
export function ownedBy(address: string): Owner {
  return { kind: "address", address: normalizeSuiAddress(address) };
}

/** Owner of an object shared by the transaction that creates it. */
export const SHARED: Owner = { kind: "shared", since: 0n };

/** Owner of a value that the running transaction still holds. */
export const HELD: Owner = { kind: "held" };

/** Owner of what nobody can change. */
export const IMMUTABLE: Owner = { kind: "immutable" };

const types = new Map<string, string>();

/** Canonical spelling of a type: full addresses, `, ` between parameters; `package` stays. */
export function normalizeType(type: string): string {
  if (!type.includes("::")) return type;
  const known = types.get(type);
  if (known !== undefined) return known;
  const normal = normalizeStructTag(type);
  types.set(type, normal);
  return normal;
}

/** Bytes of one array after the other. */
export function concat(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** BCS of an address or id: 32 bytes. */
export function addressBytes(address: string): Uint8Array<ArrayBuffer> {
  return bcs.Address.serialize(address).toBytes();
}

/**
 * The object of a dynamic field (`0x2::dynamic_field::Field { id, name, value }`).
 *
 * @param name BCS of the name.
 * @param value BCS of the value.
 */
export function fieldSpec(
  info: FieldInfo,
  value: Uint8Array,
): ObjectSpec {
  const parent = normalizeSuiAddress(info.parent);
  const id = deriveDynamicFieldID(parent, info.nameType, info.name);
  return {
    id,
    type: `0x2::dynamic_field::Field<${info.nameType}, ${info.valueType}>`,
    owner: { kind: "object", parent },
    bcs: concat(addressBytes(id), info.name, value),
    field: { ...info, parent },
  };
}
