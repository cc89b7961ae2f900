import assert from "node:assert/strict";
import { bcs } from "@mysten/sui/bcs";
import fc from "fast-check";
import { SvcError } from "../../src/errors.ts";
import { checkSponsoredKind, SPONSORED_FUNCTIONS } from "../../src/sponsor/allow_list.ts";
import { verifies } from "../requirements.ts";
import {
  type Argument,
  call,
  type Command,
  type Input,
  kind,
  OWNED,
  PACKAGE,
  PURE,
  RECEIVING,
  SHARED,
  WITHDRAWAL,
} from "./kinds.ts";

/** How bytes are judged: `ok` or the code. */
function judged(bytes: Uint8Array, packageId = PACKAGE): string {
  try {
    checkSponsoredKind(bytes, packageId);
    return "ok";
  } catch (error) {
    assert.ok(error instanceof SvcError, String(error));
    assert.equal(error.field, "transactionBlockKindBytes");
    return error.code;
  }
}

const NOT_ALLOWED = "move_call_not_allowed";
const NOT_VALID = "invalid_transaction";
const GAS: Argument = { GasCoin: true };

Deno.test("each of the six functions is let through, alone and with others", () => {
  verifies("9.1-4");
  assert.equal(SPONSORED_FUNCTIONS.length, 6);
  for (const name of SPONSORED_FUNCTIONS) {
    assert.equal(judged(kind([call({ function: name })])), "ok");
  }
  const both = [call(), call({ function: "add_bound_key", arguments: [{ Input: 1 }] })];
  assert.equal(judged(kind(both)), "ok");
  assert.equal(judged(kind([call({ arguments: [] })], [])), "ok");
});

Deno.test("other targets are refused", () => {
  const targets: Parameters<typeof call>[0][] = [
    { package: `0x${"ad".repeat(32)}` },
    { package: "0x2", module: "pay", function: "join" },
    { module: "accounts" },
    { module: "Account" },
    { module: "" },
    { module: "policy", function: "create_account" },
    { function: "create_account2" },
    { function: "create_account\0" },
    { function: " create_account" },
    { function: "" },
    { function: "offer_ownership" },
    { function: "close_account" },
    { function: "seal_approve" },
    { function: "toString" },
    { typeArguments: ["0x2::sui::SUI"] },
  ];
  for (const target of targets) {
    assert.equal(judged(kind([call(target)])), NOT_ALLOWED, JSON.stringify(target));
    assert.equal(judged(kind([call(), call(target)])), NOT_ALLOWED, JSON.stringify(target));
  }
});

Deno.test("other commands are refused, wherever they stand", () => {
  const commands: Command[] = [
    { SplitCoins: { coin: GAS, amounts: [{ Input: 1 }] } },
    { SplitCoins: { coin: { Input: 0 }, amounts: [{ Input: 1 }] } },
    { TransferObjects: { objects: [GAS], address: { Input: 1 } } },
    { TransferObjects: { objects: [{ Result: 0 }], address: { Input: 1 } } },
    { MergeCoins: { destination: { Input: 0 }, sources: [GAS] } },
    { MakeMoveVec: { type: null, elements: [GAS] } },
    { MakeMoveVec: { type: "0x2::sui::SUI", elements: [] } },
    { Publish: { modules: [Uint8Array.of(1)], dependencies: [] } },
    {
      Upgrade: {
        modules: [Uint8Array.of(1)],
        dependencies: [],
        package: PACKAGE,
        ticket: { Input: 0 },
      },
    },
  ];
  for (const command of commands) {
    for (const list of [[command], [call(), command], [command, call()]]) {
      assert.equal(judged(kind(list)), NOT_ALLOWED, JSON.stringify(command));
    }
  }
  assert.equal(judged(kind([])), NOT_ALLOWED, "nothing to pay for");
});

Deno.test("the gas coin and results are no arguments, and only shared objects are inputs", () => {
  const args: Argument[] = [GAS, { Result: 0 }, { NestedResult: [0, 0] }];
  for (const arg of args) {
    assert.equal(judged(kind([call({ arguments: [{ Input: 0 }, arg] })])), NOT_ALLOWED);
  }
  const inputs: Input[] = [OWNED, RECEIVING, WITHDRAWAL];
  for (const input of inputs) {
    assert.equal(judged(kind([call()], [SHARED, PURE, input])), NOT_ALLOWED);
    assert.equal(judged(kind([call()], [input, PURE])), NOT_ALLOWED);
  }
  assert.equal(judged(kind([call({ arguments: [{ Input: 2 }] })])), NOT_VALID, "no such input");
});

Deno.test("other kinds of transactions are refused", () => {
  for (let tag = 1; tag <= 10; tag++) assert.equal(judged(Uint8Array.of(tag, 0, 0)), NOT_ALLOWED);
  assert.equal(judged(Uint8Array.of(11, 0, 0)), NOT_VALID);
});

Deno.test("bytes too few, too many, or written otherwise are no transaction", () => {
  const good = kind();
  for (let length = 0; length < good.length; length++) {
    assert.equal(judged(good.subarray(0, length)), NOT_VALID, `${length} bytes`);
  }
  assert.equal(judged(Uint8Array.of(...good, 0)), NOT_VALID, "trailing byte");
  // The number of inputs in two bytes instead of one, and the tag in two.
  assert.equal(judged(Uint8Array.of(0, 0x82, 0, ...good.subarray(2))), NOT_VALID);
  assert.equal(judged(Uint8Array.of(0x80, 0, ...good.subarray(1))), NOT_VALID);
  // Counts that nothing stands behind, up to and above 32 bits.
  for (
    const count of [[0xff, 0x7f], [0xff, 0xff, 0xff, 0xff, 0x0f], [0xff, 0xff, 0xff, 0xff, 0x1f]]
  ) {
    // One pure input of one byte follows.
    assert.equal(judged(Uint8Array.of(0, ...count, 0, 1, 5)), NOT_VALID);
    assert.notEqual(judged(Uint8Array.of(0, ...count, ...good.subarray(2))), "ok");
  }
  assert.equal(judged(Uint8Array.of(0, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01)), NOT_VALID);
  const shared = good.indexOf(1, 3 + 32 + 8);
  const mutable = good.slice();
  mutable[shared] = 2;
  assert.equal(judged(mutable), NOT_VALID, "a boolean is 0 or 1");
});

Deno.test("names that are not UTF-8 are no transaction", () => {
  const good = kind();
  const text = new TextEncoder().encode("create_account");
  const at = good.findIndex((_, i) => text.every((byte, j) => good[i + j] === byte));
  const broken = good.slice();
  broken[at] = 0xff;
  assert.equal(judged(broken), NOT_VALID);
});

Deno.test("any change of a byte is refused, or means what the SDK reads as allowed", () => {
  const good = kind();
  fc.assert(
    fc.property(fc.nat(good.length - 1), fc.nat(255), (at, byte) => {
      const changed = good.slice();
      changed[at] = byte;
      if (judged(changed) !== "ok") return;
      // What we let through must be exactly what everybody else reads.
      const { ProgrammableTransaction: block } = bcs.TransactionKind.parse(changed);
      assert.ok(block);
      for (const command of block.commands) {
        assert.equal(command.MoveCall?.package, PACKAGE);
        assert.equal(command.MoveCall?.module, "account");
        assert.ok(SPONSORED_FUNCTIONS.includes(command.MoveCall?.function ?? ""));
      }
      assert.deepEqual(
        bcs.TransactionKind.serialize({ ProgrammableTransaction: block }).toBytes(),
        changed,
      );
    }),
    { numRuns: 5000, seed: 1 },
  );
});

Deno.test("whatever the bytes are, they are judged", () => {
  const good = kind([call(), call()]);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(good.length), (bytes, at) => {
      assert.notEqual(judged(bytes), "ok");
      // Behind the start of a good one.
      const code = judged(Uint8Array.of(...good.subarray(0, at), ...bytes));
      assert.ok(code === "ok" || code === NOT_ALLOWED || code === NOT_VALID);
    }),
    { numRuns: 3000, seed: 2 },
  );
});
