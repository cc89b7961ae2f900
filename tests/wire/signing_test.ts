import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { makeSigner, nodeSigner, scriptSigner, webSigner } from "../../src/client/signer.ts";
import { parsePrivateKey } from "../../src/wire/signing/private_key.ts";
import { bodySha256, canonicalText } from "../../src/wire/signing/signing.ts";
import { nativeBodySha256, verifyStrict } from "../../src/wire/signing/verify.ts";

// The test vector of docs/protocol.md#4.2.
const SEED = Uint8Array.from({ length: 32 }, (_, i) => i);
const PUBLIC_KEY = "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8";
const BODY = new TextEncoder().encode('{"text":"I like tea","namespace":"default"}');
const BODY_HASH = "4ec4c9e889d16393440b8f7c616e64c85ed5752b98889bd617a943bc1f74ea44";
const FOUR_FIELDS = {
  timestamp: "1767225600",
  method: "POST",
  target: "/api/remember",
  bodySha256: BODY_HASH,
};
const SIX_FIELDS = {
  ...FOUR_FIELDS,
  nonce: "8f14e45f-ceea-467f-a3c1-2b0d6f3a9c11",
  accountId: "0x" + "11".repeat(32),
};
const HOST_BOUND = { ...SIX_FIELDS, audience: "https://svc.example" };
const FOUR_SIGNATURE =
  "8cbf5d8fc163262b871b70c6bc1eb581c72ef6ad0c0a7acffca1e92815078cf9225dd25e0daa4d8d36e4f8240b69e4b3b376eae654dbc7554517c2eb356a9b01";
const SIX_SIGNATURE =
  "f2808ccbcf1cea4bb2cccd9410c5bdc51846b6f12adf1bd04be7c79fca169c5b4b427d37db1300255a5c4ce3a2d4792006f5ba71d4163d17e489682395a12109";
const HOST_BOUND_SIGNATURE =
  "ab686411c2378f11a8a806d442a700509a350c5052c823fabb0cb99c98d7bf1b7a5da60adbb5680844b16ca1569f684dcf37f85f7665f36f836428349415f102";

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

Deno.test("the body hash is that of the protocol's vector, in both implementations", () => {
  assert.equal(bodySha256(BODY), BODY_HASH);
  assert.equal(nativeBodySha256(BODY), BODY_HASH);
  const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  assert.equal(bodySha256(new Uint8Array()), empty);
  assert.equal(nativeBodySha256(new Uint8Array()), empty);
});

Deno.test("the canonical text joins its fields as the protocol says", () => {
  assert.equal(text(canonicalText(FOUR_FIELDS)), `1767225600.POST./api/remember.${BODY_HASH}`);
  const six = `${text(canonicalText(FOUR_FIELDS))}.${SIX_FIELDS.nonce}.${SIX_FIELDS.accountId}`;
  assert.equal(text(canonicalText(SIX_FIELDS)), six);
  assert.equal(text(canonicalText(HOST_BOUND)), `https://svc.example.${six}`);
  const { accountId: _, ...withoutAccount } = SIX_FIELDS;
  assert(text(canonicalText(withoutAccount)).endsWith(`.${SIX_FIELDS.nonce}.`));
});

Deno.test("an account id alone does not change the 4-field form", () => {
  const { nonce: _, ...withoutNonce } = SIX_FIELDS;
  assert.deepEqual(canonicalText(withoutNonce), canonicalText(FOUR_FIELDS));
});

Deno.test("all signers make the protocol's signatures, and they verify", async () => {
  const signers = [await makeSigner(SEED), nodeSigner(SEED), await webSigner(SEED)];
  for (const signer of [...signers, scriptSigner(SEED)]) {
    assert.equal(signer.publicKey, PUBLIC_KEY);
    for (
      const [fields, expected] of [
        [FOUR_FIELDS, FOUR_SIGNATURE],
        [SIX_FIELDS, SIX_SIGNATURE],
        [HOST_BOUND, HOST_BOUND_SIGNATURE],
      ] as const
    ) {
      const signature = await signer.sign(canonicalText(fields));
      assert.equal(signature.toHex(), expected);
      assert(verifyStrict(PUBLIC_KEY, canonicalText(fields), signature));
      assert(verifyStrict(PUBLIC_KEY.toUpperCase(), canonicalText(fields), signature));
    }
  }
});

Deno.test("a seed of another length makes no signer", async () => {
  for (const length of [0, 31, 33]) {
    await assert.rejects(makeSigner(new Uint8Array(length).fill(7)), String(length));
  }
});

Deno.test("a signature of one form does not fit the other", () => {
  assert(!verifyStrict(PUBLIC_KEY, canonicalText(SIX_FIELDS), Uint8Array.fromHex(FOUR_SIGNATURE)));
});

Deno.test("no flipped bit of signature, key or message is accepted", () => {
  const message = canonicalText(FOUR_FIELDS);
  const signature = Uint8Array.fromHex(FOUR_SIGNATURE);
  const key = Uint8Array.fromHex(PUBLIC_KEY);
  const flipped = (bytes: Uint8Array, bit: number): Uint8Array =>
    bytes.with(bit >> 3, bytes[bit >> 3]! ^ (1 << (bit & 7)));
  for (let bit = 0; bit < 512; bit++) {
    assert(!verifyStrict(PUBLIC_KEY, message, flipped(signature, bit)));
  }
  for (let bit = 0; bit < 256; bit++) {
    assert(!verifyStrict(flipped(key, bit).toHex(), message, signature));
  }
  for (let bit = 0; bit < message.length * 8; bit++) {
    assert(!verifyStrict(PUBLIC_KEY, flipped(message, bit), signature));
  }
});

Deno.test("a Buffer with the sign bit set is judged and left as it is", async () => {
  const message = canonicalText(FOUR_FIELDS);
  for (let i = 0; i < 20; i++) {
    const signer = await makeSigner(crypto.getRandomValues(new Uint8Array(32)));
    const signature = Buffer.from(await signer.sign(message));
    const before = signature.toString("hex");
    assert(verifyStrict(signer.publicKey, message, signature));
    assert.equal(signature.toString("hex"), before);
  }
});

Deno.test("S + L is refused", () => {
  const order = Uint8Array.fromHex(
    "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010",
  );
  const signature = Uint8Array.fromHex(FOUR_SIGNATURE);
  let carry = 0;
  for (let i = 0; i < 32; i++) {
    carry += signature[32 + i]! + order[i]!;
    signature[32 + i] = carry & 0xff;
    carry >>= 8;
  }
  assert(!verifyStrict(PUBLIC_KEY, canonicalText(FOUR_FIELDS), signature));
});

Deno.test("malformed keys and signatures are refused, never thrown", () => {
  const message = canonicalText(FOUR_FIELDS);
  const good = Uint8Array.fromHex(FOUR_SIGNATURE);
  const malformed = ["", "zz".repeat(32), "0x" + PUBLIC_KEY, PUBLIC_KEY + "00", "٣".repeat(64)];
  for (const key of malformed) assert(!verifyStrict(key, message, good), key);
  // y = 2 is not on the curve; p + 3 is a second encoding of a point with y = 3.
  for (const first of ["02", "f0"]) {
    const tail = first === "f0" ? "ff".repeat(30) + "7f" : "00".repeat(31);
    assert(!verifyStrict(first + tail, message, good));
  }
  for (const length of [0, 32, 63, 65]) {
    assert(!verifyStrict(PUBLIC_KEY, message, new Uint8Array(length).fill(7)));
  }
});

Deno.test("private keys are read as hex and as the text of Sui wallets", () => {
  const hex = SEED.toHex();
  assert.deepEqual(parsePrivateKey(hex), SEED);
  assert.deepEqual(parsePrivateKey("0x" + hex.toUpperCase()), SEED);
  // Made by encodeSuiPrivateKey of @mysten/sui from the same seed.
  const sui = "suiprivkey1qqqqzqsrqszsvpcgpy9qkrqdpc83qygjzv2p29shrqv35xcur50p74yefn7";
  assert.deepEqual(parsePrivateKey(sui), SEED);
  assert.deepEqual(parsePrivateKey(sui.toUpperCase()), SEED);
  const mixed = sui.slice(0, -1) + sui.slice(-1).toUpperCase();
  const wrong = sui.slice(0, -1) + (sui.endsWith("q") ? "p" : "q");
  const secp256k1 = "suiprivkey1qyqqzqsrqszsvpcgpy9qkrqdpc83qygjzv2p29shrqv35xcur50p70mvksf";
  for (const bad of ["", hex.slice(1), hex + "0", mixed === sui ? "Q" : mixed, wrong, secp256k1]) {
    assert.equal(parsePrivateKey(bad), undefined, bad);
  }
});
