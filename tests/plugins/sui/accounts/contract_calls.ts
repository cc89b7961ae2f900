/**
 * Calls of the account contract that an owner can make, and no part of the product does.
 *
 * @module
 */
import { Transaction } from "@mysten/sui/transactions";
import type { Deployment } from "../../../../plugins/sui/accounts/transactions.ts";

/** `offer_ownership`; the sender is the owner. */
export function offerOwnership(
  { packageId, registry }: Deployment,
  accountId: string,
  newOwner: string,
): Transaction {
  const tx = new Transaction();
  tx.moveCall({
    target: `${packageId}::account::offer_ownership`,
    arguments: [tx.object(registry), tx.object(accountId), tx.pure.address(newOwner)],
  });
  return tx;
}

/** `accept_ownership` by who it was offered to, or `close_account` by the owner. */
export function ownerCall(
  name: "accept_ownership" | "close_account",
  { packageId, registry }: Deployment,
  accountId: string,
): Transaction {
  const tx = new Transaction();
  tx.moveCall({
    target: `${packageId}::account::${name}`,
    arguments: [tx.object(registry), tx.object(accountId)],
  });
  return tx;
}
