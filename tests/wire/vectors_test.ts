import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { isLowOrder } from "../../src/wire/keys.ts";
import { verifyStrict } from "../../src/wire/signing/verify.ts";
import { scriptSigner } from "../../src/client/signer.ts";

const hex = (text: string): Uint8Array => Uint8Array.fromHex(text);
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

async function load<T>(path: string): Promise<T> {
  const url = new URL(`../testdata/ed25519/${path}`, import.meta.url);
  return JSON.parse(await readFile(url, "utf8"));
}

interface RfcVector {
  name: string;
  seed: string;
  pk: string;
  msg: string;
  sig: string;
}

Deno.test("RFC 8032 section 7.1", async () => {
  const vectors = await load<RfcVector[]>("rfc8032/vectors.json");
  assert.equal(vectors.length, 4);
  for (const { name, seed, pk, msg, sig } of vectors) {
    assert(verifyStrict(pk, hex(msg), hex(sig)), name);
    const signer = scriptSigner(hex(seed));
    assert.equal(signer.publicKey, pk);
    assert.equal((await signer.sign(Uint8Array.from(hex(msg)))).toHex(), sig);
  }
});

interface Wycheproof {
  testGroups: {
    publicKey: { pk: string };
    tests: { tcId: number; comment: string; msg: string; sig: string; result: string }[];
  }[];
}

Deno.test("Wycheproof: every verdict", async () => {
  const { testGroups } = await load<Wycheproof>("wycheproof/ed25519_test.json");
  let count = 0;
  for (const { publicKey, tests } of testGroups) {
    for (const { tcId, comment, msg, sig, result } of tests) {
      const verdict = verifyStrict(publicKey.pk, hex(msg), hex(sig));
      assert.equal(verdict, result === "valid", `${tcId} ${comment}`);
      count++;
    }
  }
  assert.equal(count, 151);
});

/** Flags of the CCTV vectors that a strict verifier refuses. */
const REFUSED = new Set([
  "low_order_A",
  "low_order_R",
  "non_canonical_A",
  "non_canonical_R",
  "low_order_residue",
  "reencoded_k",
]);

Deno.test("CCTV: as dalek's verify_strict", async () => {
  const vectors = await load<
    { number: number; key: string; sig: string; msg: string; flags: string[] | null }[]
  >("cctv/ed25519vectors.json");
  for (const { number, key, sig, msg, flags } of vectors) {
    const expected = !(flags ?? []).some((flag) => REFUSED.has(flag));
    assert.equal(verifyStrict(key, utf8(msg), hex(sig)), expected, `${number} ${flags}`);
  }
  assert.equal(vectors.length, 914);
});

Deno.test("speccheck: only case 3, as dalek's verify_strict", async () => {
  const cases = await load<{ message: string; pub_key: string; signature: string }[]>(
    "speccheck/cases.json",
  );
  const accepted = cases.map(({ message, pub_key, signature }) =>
    verifyStrict(pub_key, hex(message), hex(signature))
  );
  assert.deepEqual(accepted.flatMap((ok, number) => ok ? [number] : []), [3]);
  assert.equal(cases.length, 12);
});

Deno.test("a low-order key verifies nothing, where the platform verifies everything", async () => {
  const identity = hex("01" + "00".repeat(31));
  const forged = hex("01" + "00".repeat(63));
  assert(isLowOrder(identity));
  const key = await crypto.subtle.importKey("raw", Uint8Array.from(identity), "Ed25519", false, [
    "verify",
  ]);
  const message = Uint8Array.from(utf8("anything"));
  assert(await crypto.subtle.verify("Ed25519", key, Uint8Array.from(forged), message));
  assert(!verifyStrict(identity.toHex(), message, forged));
});
