/**
 * The transactions of the account contract that wallets sign. No function asks a node, and the
 * caller sets sender and gas. Building a transaction looks its shared objects up.
 *
 * @module
 */
import { bcs } from "@mysten/sui/bcs";
import { Transaction, type TransactionArgument } from "@mysten/sui/transactions";
import type { Permission } from "../../../src/interfaces/mod.ts";
import { PERMISSION_BITS } from "../chain/account_object.ts";

/** The contract on a chain: the newest version of its package, whose functions are called. */
export interface Deployment {
  readonly packageId: string;
  /** Id of the shared registry. */
  readonly registry: string;
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
  /** Namespaces that it is bound to, 1 to 32; all when absent. */
  readonly namespaces?: readonly string[] | undefined;
}

const bytes = (hex: string) => bcs.byteVector().serialize(Uint8Array.fromHex(hex));

/** A transaction with one call of `{package}::account::{name}`. */
function call(
  { packageId }: Deployment,
  name: string,
  argumentsOf: (tx: Transaction) => TransactionArgument[],
): Transaction {
  const tx = new Transaction();
  tx.moveCall({ target: `${packageId}::account::${name}`, arguments: argumentsOf(tx) });
  return tx;
}

/** `create_account`: an account whose owner is the sender. Aborts where the sender has one. */
export function createAccount(contract: Deployment): Transaction {
  return call(
    contract,
    "create_account",
    (tx) => [tx.object(contract.registry), tx.object.clock()],
  );
}

/**
 * `add_delegate_key`, or `add_bound_key` for a key that is bound to namespaces, which packages have
 * since version 2; the sender is the owner.
 */
export function addDelegateKey(
  contract: Deployment,
  accountId: string,
  key: NewDelegateKey,
): Transaction {
  const permissions = key.permissions.reduce((sum, name) => sum | PERMISSION_BITS[name], 0);
  const { namespaces } = key;
  return call(contract, namespaces ? "add_bound_key" : "add_delegate_key", (tx) => [
    tx.object(contract.registry),
    tx.object(accountId),
    tx.pure(bytes(key.publicKey)),
    tx.pure(bytes(key.proof)),
    tx.pure.u8(permissions),
    tx.pure.u64(key.expiresAt ?? 0),
    tx.pure.string(key.label),
    ...(namespaces ? [tx.pure.vector("string", [...new Set(namespaces)])] : []),
    tx.object.clock(),
  ]);
}

/**
 * `remove_delegate_key` for each key, which starts the next generation; the sender is the owner.
 *
 * @param publicKeys 64 hex characters each; at least one.
 */
export function removeDelegateKeys(
  { packageId, registry }: Deployment,
  accountId: string,
  publicKeys: readonly string[],
): Transaction {
  const tx = new Transaction();
  for (const publicKey of publicKeys) {
    tx.moveCall({
      target: `${packageId}::account::remove_delegate_key`,
      arguments: [tx.object(registry), tx.object(accountId), tx.pure(bytes(publicKey))],
    });
  }
  return tx;
}

/**
 * `reactivate_account`, or `deactivate_account`, which starts the next generation; the sender is
 * the owner.
 */
export function setAccountActive(
  contract: Deployment,
  accountId: string,
  active: boolean,
): Transaction {
  const name = active ? "reactivate_account" : "deactivate_account";
  return call(contract, name, (tx) => [tx.object(accountId)]);
}
