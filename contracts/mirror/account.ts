import { ed25519 } from "@noble/curves/ed25519.js";
import { keyProofText } from "../../src/wire/signing/signing.ts";
import { addressOf, isLowOrder } from "../../src/wire/keys.ts";
import { type AbortName, MoveAbort } from "./abort.ts";
import {
  type AccountState,
  type DelegateKeyState,
  MANAGE,
  MAX_KEYS,
  MAX_LABEL,
  READ,
  VERSION,
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
  assert(account.version === VERSION, "EVersion");
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
  assert(world.registryVersion === VERSION, "EVersion");
  const owner = world.sender;
  assert(world.indexGet({ kind: "owner", owner }) === undefined, "EExists");
  const id = world.freshId();
  world.indexSet({ kind: "owner", owner }, id);
  world.emit({ name: "AccountCreated", fields: { account_id: id, owner } });
  world.putAccount({
    id,
    version: VERSION,
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

/** Lists a key; expired ones leave the account first, and raise its generation. */
export function addDelegateKey(world: World, accountId: string, key: NewDelegateKey): void {
  const assert: Assert = asserting("add_delegate_key");
  assert(world.registryVersion === VERSION, "EVersion");
  const account = owned(world, accountId, assert);
  const { permissions, expiresAt, label, proof } = key;
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
  assert(world.registryVersion === VERSION, "EVersion");
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
  assert(world.registryVersion === VERSION, "EVersion");
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
  assert(world.registryVersion === VERSION, "EVersion");
  const account = world.account(accountId);
  assert(account.version === VERSION, "EVersion");
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
  assert(world.registryVersion === VERSION, "EVersion");
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
  assert(account.version < VERSION, "EVersion");
  world.putAccount({ ...account, version: VERSION });
}

/**
 * Whether a key server may give the sender the key of an identity.
 *
 * @param id The identity without the package's prefix: `account id | generation | scope`.
 */
export function sealApprove(world: World, accountId: string, id: Uint8Array): void {
  const assert: Assert = asserting("seal_approve");
  const account = world.account(accountId);
  assert(account.version === VERSION, "EVersion");
  assert(account.active, "EInactive");
  assert(id.length === 72, "EBadId");
  assert("0x" + id.subarray(0, 32).toHex() === account.id, "ENoAccess");
  const generation = new DataView(id.buffer, id.byteOffset).getBigUint64(32);
  assert(generation >= 1n && generation <= account.generation, "EBadId");
  if (world.sender === account.owner) return;
  const key = account.delegateKeys.find(({ address }) => address === world.sender);
  assert(key !== undefined, "ENoAccess");
  assert((key.permissions & READ) !== 0 && !isExpired(key, world.now), "ENoAccess");
}
