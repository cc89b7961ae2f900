import { ed25519 } from "@noble/curves/ed25519.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { keyProofText } from "../../src/wire/signing/signing.ts";
import { addressOf, isLowOrder } from "../../src/wire/keys.ts";
import { type AbortName, MoveAbort } from "./abort.ts";
import {
  type AccountState,
  type DelegateKeyState,
  MANAGE,
  MAX_KEYS,
  MAX_LABEL,
  MAX_NAME,
  MAX_NAMES,
  READ,
  type World,
  WRITE,
} from "./state.ts";

/** Assertions of one entry function. */
function asserting(entry: string) {
  return (holds: boolean, name: AbortName): asserts holds => {
    if (!holds) throw new MoveAbort(name, entry);
  };
}
type Assert = (holds: boolean, name: AbortName) => asserts holds;

/** The account of a call that only its owner may make. */
function owned(world: World, accountId: string, assert: Assert): AccountState {
  const account = world.account(accountId);
  assert(account.version === world.codeVersion, "EVersion");
  assert(account.owner === world.sender, "ENotOwner");
  return account;
}

/** Whether a key is worth nothing any more. */
function isExpired(key: DelegateKeyState, now: bigint): boolean {
  return key.expiresAt !== 0n && key.expiresAt <= now;
}

/** As `sui::ed25519::ed25519_verify`: cofactored (ZIP 215), false for bytes that are no signature. */
function verifies(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: true });
  } catch {
    return false;
  }
}

/** Takes keys out of the index and tells so; the caller stores the account without them. */
function dropKeys(
  world: World,
  accountId: string,
  keys: readonly DelegateKeyState[],
  generation: bigint,
): void {
  for (const { publicKey } of keys) {
    world.indexRemove({ kind: "key", publicKey });
    world.emit({
      name: "KeyRemoved",
      fields: { account_id: accountId, public_key: Uint8Array.fromHex(publicKey), generation },
    });
  }
}

/** Makes the sender's account and answers its id. */
export function createAccount(world: World): string {
  const assert: Assert = asserting("create_account");
  assert(world.registryVersion === world.codeVersion, "EVersion");
  const owner = world.sender;
  assert(world.indexGet({ kind: "owner", owner }) === undefined, "EExists");
  const id = world.freshId();
  world.indexSet({ kind: "owner", owner }, id);
  world.emit({ name: "AccountCreated", fields: { account_id: id, owner } });
  world.putAccount({
    id,
    version: world.codeVersion,
    owner,
    pendingOwner: undefined,
    delegateKeys: [],
    createdAt: world.now,
    active: true,
    generation: 1n,
  });
  return id;
}

/** Arguments of `add_delegate_key`. */
export interface NewDelegateKey {
  /** Any bytes; 32 that are a key of no low order are accepted. */
  readonly publicKey: Uint8Array;
  /** Signature by the key over `svc-delegate-v1:` and the account id. */
  readonly proof: Uint8Array;
  /** Bits. */
  readonly permissions: number;
  /** Milliseconds since the epoch; 0 = never. */
  readonly expiresAt: bigint;
  /** Name of the key. */
  readonly label: string;
}

/** Arguments of `add_bound_key`. */
export interface NewBoundKey extends NewDelegateKey {
  /** What it is bound to. */
  readonly namespaces: readonly string[];
}

/** Lists a key of all namespaces; expired ones leave the account first, and raise its generation. */
export function addDelegateKey(world: World, accountId: string, key: NewDelegateKey): void {
  const assert: Assert = asserting("add_delegate_key");
  assert(world.registryVersion === world.codeVersion, "EVersion");
  const account = owned(world, accountId, assert);
  listKey(world, account, { ...key, namespaces: [] }, assert);
}

/** Lists a key that is bound to namespaces, as {@linkcode addDelegateKey} lists others. */
export function addBoundKey(world: World, accountId: string, key: NewBoundKey): void {
  const assert: Assert = asserting("add_bound_key");
  assert(world.registryVersion === world.codeVersion, "EVersion");
  const account = owned(world, accountId, assert);
  const sizes = key.namespaces.map((name) => new TextEncoder().encode(name).length);
  const isSmall = sizes.length >= 1 && sizes.length <= MAX_NAMES &&
    sizes.every((size) => size >= 1 && size <= MAX_NAME);
  assert(isSmall, "ENamespaces");
  listKey(world, account, key, assert);
}

function listKey(world: World, account: AccountState, key: NewBoundKey, assert: Assert): void {
  const accountId = account.id;
  const { permissions, expiresAt, label, proof, namespaces } = key;
  assert(account.active, "EInactive");
  assert(key.publicKey.length === 32 && !isLowOrder(key.publicKey), "EBadKey");
  assert(permissions > 0 && permissions <= (READ | WRITE | MANAGE), "EPermissions");
  assert(expiresAt === 0n || expiresAt > world.now, "EExpiry");
  assert(new TextEncoder().encode(label).length <= MAX_LABEL, "ELabel");
  const expired = account.delegateKeys.filter((listed) => isExpired(listed, world.now));
  const kept = account.delegateKeys.filter((listed) => !isExpired(listed, world.now));
  assert(kept.length < MAX_KEYS, "ETooMany");
  assert(verifies(key.publicKey, keyProofText(accountId), proof), "EBadProof");
  const publicKey = key.publicKey.toHex();
  const isFree = world.indexGet({ kind: "key", publicKey }) === undefined ||
    expired.some((listed) => listed.publicKey === publicKey);
  assert(isFree, "EKeyTaken");
  const generation = account.generation + (expired.length > 0 ? 1n : 0n);
  dropKeys(world, accountId, expired, generation);
  world.indexSet({ kind: "key", publicKey }, accountId);
  const address = addressOf(publicKey);
  world.putAccount({
    ...account,
    generation,
    delegateKeys: [...kept, {
      publicKey,
      address,
      label,
      permissions,
      createdAt: world.now,
      expiresAt,
      sinceGeneration: generation,
      namespaces,
    }],
  });
  world.emit({
    name: "KeyAdded",
    fields: {
      account_id: accountId,
      public_key: key.publicKey,
      sui_address: address,
      permissions,
      expires_at: expiresAt,
    },
  });
}

/** Takes a key off the list; the account's next data is for the remaining ones. */
export function removeDelegateKey(world: World, accountId: string, publicKey: Uint8Array): void {
  const assert: Assert = asserting("remove_delegate_key");
  assert(world.registryVersion === world.codeVersion, "EVersion");
  const account = owned(world, accountId, assert);
  const hex = publicKey.toHex();
  const leaving = account.delegateKeys.filter((key) => key.publicKey === hex);
  assert(leaving.length > 0, "ENoKey");
  const generation = account.generation + 1n;
  const delegateKeys = account.delegateKeys.filter((key) => key.publicKey !== hex);
  world.putAccount({ ...account, generation, delegateKeys });
  dropKeys(world, accountId, leaving, generation);
}

function setActive(world: World, accountId: string, active: boolean, entry: string): void {
  const account = owned(world, accountId, asserting(entry));
  const generation = account.generation + (active ? 0n : 1n);
  world.putAccount({ ...account, active, generation });
  world.emit({ name: "ActiveChanged", fields: { account_id: accountId, active, generation } });
}

/** Nobody is given keys from now on. */
export function deactivateAccount(world: World, accountId: string): void {
  setActive(world, accountId, false, "deactivate_account");
}

/** Ends a deactivation. */
export function reactivateAccount(world: World, accountId: string): void {
  setActive(world, accountId, true, "reactivate_account");
}

/** Offers the account to an address that has none; replaces an earlier offer. */
export function offerOwnership(world: World, accountId: string, newOwner: string): void {
  const assert: Assert = asserting("offer_ownership");
  assert(world.registryVersion === world.codeVersion, "EVersion");
  const account = owned(world, accountId, assert);
  assert(world.indexGet({ kind: "owner", owner: newOwner }) === undefined, "EExists");
  world.putAccount({ ...account, pendingOwner: newOwner });
  world.emit({
    name: "OwnershipOffered",
    fields: { account_id: accountId, owner: account.owner, pending_owner: newOwner },
  });
}

/** Takes an offer back. */
export function withdrawOffer(world: World, accountId: string): void {
  const assert: Assert = asserting("withdraw_offer");
  const account = owned(world, accountId, assert);
  assert(account.pendingOwner !== undefined, "ENoOffer");
  world.putAccount({ ...account, pendingOwner: undefined });
  world.emit({
    name: "OwnershipOffered",
    fields: { account_id: accountId, owner: account.owner, pending_owner: null },
  });
}

/** Makes the sender the owner; a key of the former owner's own address leaves with them. */
export function acceptOwnership(world: World, accountId: string): void {
  const assert: Assert = asserting("accept_ownership");
  assert(world.registryVersion === world.codeVersion, "EVersion");
  const account = world.account(accountId);
  assert(account.version === world.codeVersion, "EVersion");
  assert(account.pendingOwner !== undefined, "ENoOffer");
  const [from, to] = [account.owner, world.sender];
  assert(account.pendingOwner === to, "ENotOwner");
  assert(world.indexGet({ kind: "owner", owner: to }) === undefined, "EExists");
  const generation = account.generation + 1n;
  world.indexRemove({ kind: "owner", owner: from });
  world.indexSet({ kind: "owner", owner: to }, accountId);
  world.putAccount({
    ...account,
    owner: to,
    pendingOwner: undefined,
    generation,
    delegateKeys: account.delegateKeys.filter((key) => key.address !== from),
  });
  const leaving = account.delegateKeys.filter((key) => key.address === from);
  dropKeys(world, accountId, leaving, generation);
  world.emit({
    name: "OwnershipTransferred",
    fields: { account_id: accountId, from, to, generation },
  });
}

/** Deletes the account and its entries; nobody can be given its keys ever again. */
export function closeAccount(world: World, accountId: string): void {
  const assert: Assert = asserting("close_account");
  assert(world.registryVersion === world.codeVersion, "EVersion");
  const account = owned(world, accountId, assert);
  for (const { publicKey } of account.delegateKeys) {
    world.indexRemove({ kind: "key", publicKey });
  }
  world.indexRemove({ kind: "owner", owner: account.owner });
  world.deleteAccount(accountId);
  const fields = { account_id: accountId, owner: account.owner };
  world.emit({ name: "AccountClosed", fields });
}

/** Lifts an account's data to this version; there is no older one. */
export function migrateAccount(world: World, accountId: string): void {
  const assert: Assert = asserting("migrate_account");
  const account = world.account(accountId);
  assert(account.owner === world.sender, "ENotOwner");
  assert(account.version < world.codeVersion, "EVersion");
  world.putAccount({ ...account, version: world.codeVersion });
}

/**
 * Whether a key server may give the sender, who is not bound to namespaces, the key of an identity.
 *
 * @param id The identity without the package's prefix: `account id | generation | scope`.
 */
export function sealApprove(world: World, accountId: string, id: Uint8Array): void {
  const assert: Assert = asserting("seal_approve");
  const account = ofIdentity(world, accountId, id, assert);
  checkReader(world, account, new Uint8Array(), assert);
}

/** The namespace that an identity is said to be of. */
export interface NamedScope {
  /** Text of the owner. */
  readonly owner: Uint8Array;
  /** UTF-8. */
  readonly namespace: Uint8Array;
}

/**
 * Whether a key server may give the sender, who may be bound to namespaces, the key of an identity.
 *
 * @param id As of {@linkcode sealApprove}.
 */
export function sealApproveNamespace(
  world: World,
  accountId: string,
  id: Uint8Array,
  { owner, namespace }: NamedScope,
): void {
  const assert: Assert = asserting("seal_approve_namespace");
  const account = ofIdentity(world, accountId, id, assert);
  assert(scopeBytes(owner, namespace) === id.subarray(40).toHex(), "EBadId");
  checkReader(world, account, namespace, assert);
}

/** The scope of an owner's namespace, hex. */
function scopeBytes(owner: Uint8Array, namespace: Uint8Array): string {
  const parts = [owner, namespace].flatMap((part) => {
    const size = new Uint8Array(4);
    new DataView(size.buffer).setUint32(0, part.length);
    return [...size, ...part];
  });
  return sha256(new Uint8Array([...new TextEncoder().encode("svc-scope-1"), ...parts])).toHex();
}

/** The account, if it is active and the identity one of its. */
function ofIdentity(
  world: World,
  accountId: string,
  id: Uint8Array,
  assert: Assert,
): AccountState {
  const account = world.account(accountId);
  assert(account.version === world.codeVersion, "EVersion");
  assert(account.active, "EInactive");
  assert(id.length === 72, "EBadId");
  assert("0x" + id.subarray(0, 32).toHex() === account.id, "ENoAccess");
  const generation = new DataView(id.buffer, id.byteOffset).getBigUint64(32);
  assert(generation >= 1n && generation <= account.generation, "EBadId");
  return account;
}

/** @param namespace Empty where it is not known. */
function checkReader(
  world: World,
  account: AccountState,
  namespace: Uint8Array,
  assert: Assert,
): void {
  if (world.sender === account.owner) return;
  const key = account.delegateKeys.find(({ address }) => address === world.sender);
  assert(key !== undefined, "ENoAccess");
  assert((key.permissions & READ) !== 0 && !isExpired(key, world.now), "ENoAccess");
  const { namespaces } = key;
  assert(namespaces.length === 0 || include(namespaces, namespace), "ENoAccess");
}

/** Whether names stand for a namespace, byte for byte. */
function include(names: readonly string[], namespace: Uint8Array): boolean {
  const wanted = namespace.toHex();
  return names.some((name) => {
    const hex = new TextEncoder().encode(name).toHex();
    return wanted === hex || name.endsWith("/") && wanted.startsWith(hex);
  });
}
