import { bcs, type BcsType } from "@mysten/sui/bcs";
import { deriveDynamicFieldID } from "@mysten/sui/utils";
import { SvcError } from "../../../src/errors.ts";
import type { Account, Permission } from "../../../src/interfaces/mod.ts";
import { PERMISSIONS } from "../../../src/wire/keys.ts";

/** Bits of a delegate key's permissions on chain. */
export const PERMISSION_BITS: Readonly<Record<Permission, number>> = {
  read: 1,
  write: 2,
  manage: 4,
};

/** Versions of an account's data that this release reads: each has a form of its own. */
export const ACCOUNT_VERSIONS: readonly number[] = [1, 2];

/** The first version whose keys may be bound to namespaces. */
export const BINDS_SINCE = 2;

/** What a delegate key has in every version. Times are milliseconds since the epoch; 0 = never. */
const KEY_FIELDS = {
  public_key: bcs.byteVector(),
  sui_address: bcs.Address,
  label: bcs.string(),
  permissions: bcs.u8(),
  created_at: bcs.u64(),
  expires_at: bcs.u64(),
  since_generation: bcs.u64(),
};

/** BCS of `svc::account::DelegateKey`. */
const DelegateKeyObject = bcs.struct("DelegateKey", {
  ...KEY_FIELDS,
  namespaces: bcs.vector(bcs.string()),
});

type KeyInput = typeof DelegateKeyObject.$inferInput;
type Key = typeof DelegateKeyObject.$inferType;

/** The same of version 1, which knows no namespaces. */
const FirstDelegateKeyObject = bcs.struct("DelegateKey", KEY_FIELDS).transform({
  input: (key: KeyInput) => {
    if ([...key.namespaces].length > 0) throw new TypeError("version 1 keeps no namespaces");
    return key;
  },
  output: (key): Key => ({ ...key, namespaces: [] }),
});

function accountForm(key: BcsType<Key, KeyInput>) {
  return bcs.struct("SvcAccount", {
    id: bcs.Address,
    version: bcs.u64(),
    owner: bcs.Address,
    pending_owner: bcs.option(bcs.Address),
    delegate_keys: bcs.vector(key),
    created_at: bcs.u64(),
    active: bcs.bool(),
    generation: bcs.u64(),
  });
}

/** BCS of `svc::account::SvcAccount`, as packages have it since version 2. */
export const AccountObject: ReturnType<typeof accountForm> = accountForm(DelegateKeyObject);

const FirstAccountObject = accountForm(FirstDelegateKeyObject);

/** BCS of `svc::account::SvcAccount` by the version of an account's data. */
export function accountObjectOf(version: bigint): typeof AccountObject {
  return version === 1n ? FirstAccountObject : AccountObject;
}

/** Exact type of accounts, by the first version of the package. */
export function accountType(packageId: string): string {
  return `${packageId}::account::SvcAccount`;
}

/**
 * Id of the field of the registry that maps a delegate public key to its account:
 * name `DelegateIndex { public_key: vector<u8> }`, value `ID`.
 *
 * @param publicKey 64 hex characters.
 */
export function delegateFieldId(registryId: string, packageId: string, publicKey: string): string {
  const name = bcs.byteVector().serialize(Uint8Array.fromHex(publicKey)).toBytes();
  return deriveDynamicFieldID(registryId, `${packageId}::account::DelegateIndex`, name);
}

/** Id of the field of the registry that maps an owner: name `OwnerKey { owner: address }`. */
export function ownerFieldId(registryId: string, packageId: string, owner: string): string {
  const name = bcs.Address.serialize(owner).toBytes();
  return deriveDynamicFieldID(registryId, `${packageId}::account::OwnerKey`, name);
}

/** An account, with what only the chain's accounts have. */
export interface ChainAccount extends Account {
  /** Generation of its keys, from 1; raised when a key is removed and by a deactivation. */
  readonly generation: number;
  /** Version of the package's data. */
  readonly version: number;
}

/** The last moment that a `Date` can hold; the contract takes expiries up to 2^64 - 1. */
const END_OF_TIME_MS = 8.64e15;

const milliseconds = (u64: string) => Math.min(Number(u64), END_OF_TIME_MS);

/**
 * The version of an account's data, which is at the same place in every form.
 *
 * @throws {RangeError} where the content ends before it.
 */
export function accountVersion(content: Uint8Array): bigint {
  return new DataView(content.buffer, content.byteOffset, content.length).getBigUint64(32, true);
}

/**
 * Parses the BCS of an account object.
 *
 * @throws {Error} where it is no account.
 */
export function parseAccount(content: Uint8Array): ChainAccount {
  const parsed = accountObjectOf(accountVersion(content)).parse(content);
  return {
    accountId: parsed.id,
    owner: parsed.owner,
    active: parsed.active,
    generation: Number(parsed.generation),
    version: Number(parsed.version),
    keys: parsed.delegate_keys.map((key) => ({
      publicKey: new Uint8Array(key.public_key).toHex(),
      address: key.sui_address,
      label: key.label,
      permissions: PERMISSIONS.filter((name) => (key.permissions & PERMISSION_BITS[name]) !== 0),
      createdAt: milliseconds(key.created_at),
      ...(key.expires_at === "0" ? {} : { expiresAt: milliseconds(key.expires_at) }),
      ...(key.namespaces.length === 0 ? {} : { namespaces: key.namespaces }),
    })),
  };
}

/** The account with this id in an object's content, of which no byte may be missing or left over. */
export function accountIn(content: Uint8Array, id: string): ChainAccount | undefined {
  try {
    // A copy, because the reader would go on into the bytes of the next object.
    const bytes = content.slice();
    const form = accountObjectOf(accountVersion(bytes));
    const isWhole = form.serialize(form.parse(bytes)).toHex() === bytes.toHex();
    const account = parseAccount(bytes);
    return isWhole && account.accountId === id ? account : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Refuses to bind a key to namespaces where the contract keeps no list of them: the key would open
 * every namespace.
 *
 * @param version Of the account's data.
 * @throws {SvcError} `invalid_parameter`.
 */
export function checkBinds(version: number): void {
  if (version >= BINDS_SINCE) return;
  const text = "The contract's package is of an earlier version that cannot bind keys to " +
    "namespaces: publish this version, and make the account there";
  throw new SvcError("invalid_parameter", text, { field: "namespaces" });
}

/** Bytes of a namespace's scope in a Seal identity. */
export const SCOPE_BYTES = 32;

/** A Seal identity: `account id (32) | generation (u64, big-endian) | scope (32)`. */
export function sealIdentity(
  accountId: string,
  generation: number,
  scope: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(40 + SCOPE_BYTES);
  bytes.set(Uint8Array.fromHex(accountId.slice(2)));
  new DataView(bytes.buffer).setBigUint64(32, BigInt(generation));
  bytes.set(scope, 40);
  return bytes;
}
