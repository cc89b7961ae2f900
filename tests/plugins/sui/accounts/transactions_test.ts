import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { bcs } from "@mysten/sui/bcs";
import type { Transaction } from "@mysten/sui/transactions";
import {
  addDelegateKey,
  createAccount,
  removeDelegateKeys,
  setAccountActive,
} from "../../../../plugins/sui/accounts/transactions.ts";

const id = (digit: string) => "0x" + digit.repeat(64);
const REGISTRY = id("2");
const ACCOUNT = id("3");
const DEPLOYMENT = { packageId: id("1"), registry: REGISTRY };
const CLOCK = "0x" + "6".padStart(64, "0");

/** Name of the one call and its arguments: ids of objects, and bytes as hex. */
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
      return input?.UnresolvedObject?.objectId ?? input?.Object?.SharedObject?.objectId ?? "";
    }),
  ];
}

Deno.test("every entry function gets its arguments in order", () => {
  const [registry, account] = [REGISTRY, ACCOUNT];
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
  const bound = addDelegateKey(DEPLOYMENT, ACCOUNT, { ...added, namespaces: ["é/", "é/", "a"] });
  deepStrictEqual(read(bound).slice(7), ["02c3a9", "0203c3a92f0161", CLOCK]);
  strictEqual(read(bound)[0], "add_bound_key");
  deepStrictEqual(read(removeDelegateKeys(DEPLOYMENT, ACCOUNT, [key])), [
    "remove_delegate_key",
    registry,
    account,
    vector(key),
  ]);
  const [stop, go] = [false, true].map((on) => read(setAccountActive(DEPLOYMENT, ACCOUNT, on)));
  deepStrictEqual(stop, ["deactivate_account", account]);
  deepStrictEqual(go, ["reactivate_account", account]);
});
