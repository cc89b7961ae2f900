import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { bcs } from "@mysten/sui/bcs";
import type { Transaction } from "@mysten/sui/transactions";
import {
  acceptOwnership,
  addDelegateKey,
  closeAccount,
  createAccount,
  deactivateAccount,
  offerOwnership,
  reactivateAccount,
  removeDelegateKey,
  sealApprove,
  withdrawOffer,
} from "../../../../plugins/sui/accounts/transactions.ts";

const id = (digit: string) => "0x" + digit.repeat(64);
const REGISTRY = { objectId: id("2"), initialSharedVersion: 7 };
const ACCOUNT = { objectId: id("3"), initialSharedVersion: "9" };
const DEPLOYMENT = { packageId: id("1"), registry: REGISTRY };
const CLOCK = "0x" + "6".padStart(64, "0");

/** Name of the one call and its arguments: ids of objects, `!` when mutable, and bytes as hex. */
function read(tx: Transaction): [name: string, ...args: string[]] {
  const { commands, inputs } = tx.getData();
  strictEqual(commands.length, 1);
  const call = commands[0]?.MoveCall;
  deepStrictEqual([call?.package, call?.module], [DEPLOYMENT.packageId, "account"]);
  return [
    call?.function ?? "",
    ...(call?.arguments ?? []).map((argument) => {
      const input = inputs[argument.$kind === "Input" ? argument.Input : -1];
      if (input?.Pure) return Uint8Array.fromBase64(input.Pure.bytes).toHex();
      if (input?.UnresolvedObject) return input.UnresolvedObject.objectId;
      const object = input?.Object?.SharedObject;
      return `${object?.objectId}${object?.mutable ? "!" : ""}`;
    }),
  ];
}

Deno.test("every entry function gets its arguments in order", () => {
  const registry = `${REGISTRY.objectId}!`;
  const account = `${ACCOUNT.objectId}!`;
  const key = "ab".repeat(32);
  const hex = (bytes: Uint8Array) => bytes.toHex();
  const vector = (text: string) =>
    hex(bcs.byteVector().serialize(Uint8Array.fromHex(text)).toBytes());
  deepStrictEqual(read(createAccount(DEPLOYMENT)), ["create_account", registry, CLOCK]);
  const added = {
    publicKey: key,
    proof: "cd".repeat(64),
    permissions: ["read"],
    label: "é",
  } as const;
  deepStrictEqual(read(addDelegateKey(DEPLOYMENT, ACCOUNT, { ...added, expiresAt: 258 })), [
    "add_delegate_key",
    registry,
    account,
    vector(key),
    vector(added.proof),
    "01",
    "0201000000000000",
    "02c3a9",
    CLOCK,
  ]);
  const both = addDelegateKey(DEPLOYMENT, ACCOUNT, { ...added, permissions: ["write", "read"] });
  deepStrictEqual(read(both).slice(5, 7), ["03", "0000000000000000"]);
  deepStrictEqual(read(removeDelegateKey(DEPLOYMENT, ACCOUNT, key)), [
    "remove_delegate_key",
    registry,
    account,
    vector(key),
  ]);
  deepStrictEqual(read(deactivateAccount(DEPLOYMENT, ACCOUNT)), ["deactivate_account", account]);
  deepStrictEqual(read(reactivateAccount(DEPLOYMENT, ACCOUNT)), ["reactivate_account", account]);
  deepStrictEqual(read(offerOwnership(DEPLOYMENT, ACCOUNT, id("4"))), [
    "offer_ownership",
    REGISTRY.objectId,
    account,
    "4".repeat(64),
  ]);
  deepStrictEqual(read(withdrawOffer(DEPLOYMENT, ACCOUNT)), ["withdraw_offer", account]);
  const pair = [registry, account];
  deepStrictEqual(read(acceptOwnership(DEPLOYMENT, ACCOUNT)), ["accept_ownership", ...pair]);
  deepStrictEqual(read(closeAccount(DEPLOYMENT, ACCOUNT)), ["close_account", ...pair]);
  deepStrictEqual(read(sealApprove(DEPLOYMENT, ACCOUNT, new Uint8Array(72))), [
    "seal_approve",
    vector("00".repeat(72)),
    ACCOUNT.objectId,
    CLOCK,
  ]);
});

Deno.test("with full references a transaction builds without a node", async () => {
  const kind = await sealApprove(DEPLOYMENT, ACCOUNT, new Uint8Array(72))
    .build({ onlyTransactionKind: true });
  strictEqual(kind.length > 72, true);
  deepStrictEqual(read(createAccount({ ...DEPLOYMENT, registry: REGISTRY.objectId })), [
    "create_account",
    REGISTRY.objectId,
    CLOCK,
  ]);
});
