import fc from "fast-check";
import assert from "node:assert/strict";
import {
  chainIdOf,
  dataKeyOf,
  decodeHead,
  decodeStep,
  encodeHead,
  encodeStep,
  keyIdOfStep,
  newSalt,
  nextState,
  scopeHash,
} from "../../../../plugins/sui/seal/keys/wrapped_key.ts";

const ID = (byte: number) => "0x" + byte.toString(16).padStart(2, "0").repeat(32);
const SET = {
  threshold: 2,
  servers: [{ objectId: ID(1), weight: 1 }, { objectId: ID(2), weight: 2 }],
};
const HEAD = encodeHead({ set: SET, ciphertext: Uint8Array.of(9, 8, 7) });
const IDENTITY = { accountId: ID(3), generation: 4, scope: new Uint8Array(32).fill(5) };
const refused = { code: "storage_unavailable", retryable: false };

Deno.test("a wrapped key is read as it was written", () => {
  const salt = newSalt();
  const bytes = encodeStep({ step: 200, salt, head: HEAD });
  const read = decodeStep(bytes);
  assert.deepEqual(read, { step: 200, salt, head: HEAD });
  assert.deepEqual(decodeHead(read.head), { set: SET, ciphertext: Uint8Array.of(9, 8, 7) });
  assert.equal(bytes.length, 35 + 2 + 2 * 33 + 3);
});

Deno.test("other bytes are refused, whatever they are", () => {
  const step = encodeStep({ step: 0, salt: newSalt(), head: HEAD });
  const wrong = [step.with(0, 2), step.with(1, 1), step.slice(0, 37), new Uint8Array(70_000)];
  for (const bytes of wrong) assert.throws(() => decodeStep(bytes), refused);
  const heads = [
    HEAD.with(0, 0),
    HEAD.with(0, 4),
    HEAD.with(1, 33),
    HEAD.with(34, 0),
    HEAD.slice(0, -3),
    HEAD.with(2, 2).fill(2, 2, 34),
    new Uint8Array(),
  ];
  for (const bytes of heads) assert.throws(() => decodeHead(bytes), refused);
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
    for (const decode of [decodeStep, decodeHead]) {
      try {
        decode(bytes);
      } catch (error) {
        assert.equal((error as { code?: string }).code, "storage_unavailable");
      }
    }
  }));
});

Deno.test("the key id commits to the bytes, the account, the scope and the generation", () => {
  const bytes = encodeStep({ step: 1, salt: newSalt(), head: HEAD });
  const id = keyIdOfStep(IDENTITY, bytes);
  assert.match(id, /^[0-9a-f]{32}$/);
  assert.equal(keyIdOfStep(IDENTITY, bytes.slice()), id);
  const others = [
    keyIdOfStep({ ...IDENTITY, accountId: ID(4) }, bytes),
    keyIdOfStep({ ...IDENTITY, generation: 5 }, bytes),
    keyIdOfStep({ ...IDENTITY, scope: new Uint8Array(32) }, bytes),
    ...[...bytes.keys()].map((at) => keyIdOfStep(IDENTITY, bytes.with(at, bytes[at]! ^ 1))),
  ];
  assert.ok(others.every((other) => other !== id));
  assert.notEqual(chainIdOf(IDENTITY, HEAD), chainIdOf({ ...IDENTITY, generation: 5 }, HEAD));
});

Deno.test("a chain goes one way, and each key needs its salt", () => {
  const first = new Uint8Array(32).fill(1);
  const second = nextState(first);
  const salt = newSalt();
  const id = "ab".repeat(16);
  const keys = [
    dataKeyOf(first, salt, id),
    dataKeyOf(second, salt, id),
    dataKeyOf(first, newSalt(), id),
    dataKeyOf(first, salt, "cd".repeat(16)),
    first,
    second,
  ].map((key) => key.toHex());
  assert.equal(new Set(keys).size, keys.length);
  assert.deepEqual(dataKeyOf(first, salt, id).toHex(), keys[0]);
});

Deno.test("scopes are told apart wherever their parts meet", () => {
  const hashes = [["ab", "c"], ["a", "bc"], ["", "abc"], ["abc", ""], ["ab", "C"]]
    .map(([owner, namespace]) => scopeHash({ owner: owner!, namespace: namespace! }).toHex());
  assert.equal(new Set(hashes).size, hashes.length);
  assert.throws(() => scopeHash({ owner: "a", namespace: "\ud800" }), {
    code: "invalid_parameter",
  });
});
