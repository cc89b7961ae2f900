import assert from "node:assert/strict";
import fc from "fast-check";
import { formatPrivateKey, parsePrivateKey } from "../../src/wire/signing/private_key.ts";

Deno.test("a private key is written as Sui wallets write it", () => {
  const seed = Uint8Array.from({ length: 32 }, (_, i) => i);
  const text = "suiprivkey1qqqqzqsrqszsvpcgpy9qkrqdpc83qygjzv2p29shrqv35xcur50p74yefn7";
  assert.equal(formatPrivateKey(seed), text);
  fc.assert(fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
    assert.deepEqual(parsePrivateKey(formatPrivateKey(bytes)), new Uint8Array(bytes));
  }));
});
