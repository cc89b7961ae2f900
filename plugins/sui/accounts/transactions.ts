/**
 * The transactions of the account contract. No function asks a node, and the caller sets sender and
 * gas. When a shared object is given by its id alone, building the transaction looks it up.
 *
 * @module
 */
import { bcs } from "@mysten/sui/bcs";
import { Transaction, type TransactionObjectArgument } from "@mysten/sui/transactions";
import type { Permission } from "../../../src/interfaces/mod.ts";
import { PERMISSION_BITS } from "../chain/account_object.ts";

/** A shared object: its id, or its id and the version at which it was first shared. */
export type SharedInput = string | {
  readonly objectId: string;
  readonly initialSharedVersion: string | number;
};

/** The contract on a chain: the newest version of its package, whose functions are called. */
export interface Deployment {
  readonly packageId: string;
  readonly registry: SharedInput;
}

/** A key to add on chain. */
export interface NewDelegateKey {
  /** Ed25519 public key, 64 hex characters. */
  readonly publicKey: string;
  /** 128 hex characters: the key's signature over `svc-delegate-v1:` and the 32 bytes of the id. */
  readonly proof: string;
  /** At least one. */
  readonly permissions: readonly Permission[];
  /** Milliseconds since the epoch; never when absent. */
  readonly expiresAt?: number | undefined;
  /** Name for people, at most 64 bytes of UTF-8. */
  readonly label: string;
}

type Argument = (tx: Transaction) => TransactionObjectArgument;

function shared(input: SharedInput, mutable = true): Argument {
  return (tx) =>
    typeof input === "string" ? tx.object(input) : tx.sharedObjectRef({ ...input, mutable });
}

const bytes = (hex: string) => bcs.byteVector().serialize(Uint8Array.fromHex(hex));

/** A transaction with one call of `{package}::account::{name}`. */
function call(packageId: string, name: string, args: readonly Argument[]): Transaction {
  const tx = new Transaction();
  tx.moveCall({
    package: packageId,
    module: "account",
    function: name,
    arguments: args.map((argument) => argument(tx)),
  });
  return tx;
}

const clock: Argument = (tx) => tx.object.clock();

/** `create_account`: an account whose owner is the sender. Aborts where the sender has one. */
export function createAccount({ packageId, registry }: Deployment): Transaction {
  return call(packageId, "create_account", [shared(registry), clock]);
}

/** `add_delegate_key`; the sender is the owner. */
export function addDelegateKey(
  { packageId, registry }: Deployment,
  account: SharedInput,
  key: NewDelegateKey,
): Transaction {
  const permissions = key.permissions.reduce((sum, name) => sum | PERMISSION_BITS[name], 0);
  return call(packageId, "add_delegate_key", [
    shared(registry),
    shared(account),
    (tx) => tx.pure(bytes(key.publicKey)),
    (tx) => tx.pure(bytes(key.proof)),
    (tx) => tx.pure.u8(permissions),
    (tx) => tx.pure.u64(key.expiresAt ?? 0),
    (tx) => tx.pure.string(key.label),
    clock,
  ]);
}

/**
 * `remove_delegate_key`, which starts the next generation; the sender is the owner.
 *
 * @param publicKey 64 hex characters.
 */
export function removeDelegateKey(
  { packageId, registry }: Deployment,
  account: SharedInput,
  publicKey: string,
): Transaction {
  return call(packageId, "remove_delegate_key", [
    shared(registry),
    shared(account),
    (tx) => tx.pure(bytes(publicKey)),
  ]);
}

/** `deactivate_account`, which starts the next generation; the sender is the owner. */
export function deactivateAccount({ packageId }: Deployment, account: SharedInput): Transaction {
  return call(packageId, "deactivate_account", [shared(account)]);
}

/** `reactivate_account`; the sender is the owner. */
export function reactivateAccount({ packageId }: Deployment, account: SharedInput): Transaction {
  return call(packageId, "reactivate_account", [shared(account)]);
}

/**
 * `offer_ownership`; the sender is the owner.
 *
 * @param newOwner address, `0x` and 64 hex characters.
 */
export function offerOwnership(
  { packageId, registry }: Deployment,
  account: SharedInput,
  newOwner: string,
): Transaction {
  return call(packageId, "offer_ownership", [
    shared(registry, false),
    shared(account),
    (tx) => tx.pure.address(newOwner),
  ]);
}

/** `withdraw_offer`; the sender is the owner. */
export function withdrawOffer({ packageId }: Deployment, account: SharedInput): Transaction {
  return call(packageId, "withdraw_offer", [shared(account)]);
}

/** `accept_ownership`; the sender is who it was offered to, and has no account. */
export function acceptOwnership(
  { packageId, registry }: Deployment,
  account: SharedInput,
): Transaction {
  return call(packageId, "accept_ownership", [shared(registry), shared(account)]);
}

/** `close_account`, for good; the sender is the owner. */
export function closeAccount(
  { packageId, registry }: Deployment,
  account: SharedInput,
): Transaction {
  return call(packageId, "close_account", [shared(registry), shared(account)]);
}

/**
 * `seal_approve`: what key servers evaluate before they give a key out.
 *
 * @param identity The 72 bytes of a Seal identity.
 */
export function sealApprove(
  { packageId }: Pick<Deployment, "packageId">,
  account: SharedInput,
  identity: Uint8Array,
): Transaction {
  return call(packageId, "seal_approve", [
    (tx) => tx.pure(bcs.byteVector().serialize(identity)),
    shared(account, false),
    clock,
  ]);
}
