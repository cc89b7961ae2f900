import { ed25519 } from "@noble/curves/ed25519.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { keyProofText } from "../../../src/wire/signing/signing.ts";

const { Point } = ed25519;
const ORDER = Point.Fn.ORDER;
const PRIME = 2n ** 255n - 19n;
const SCALAR = 0x1234_5678_9abcn;
const NONCE = 0xfedc_ba98_7654n;

const concat = (...parts: readonly Uint8Array[]): Uint8Array =>
  new Uint8Array(parts.flatMap((part) => [...part]));

const toLe = (number: bigint): Uint8Array =>
  Uint8Array.fromHex(number.toString(16).padStart(64, "0")).toReversed();

const fromLe = (bytes: Uint8Array): bigint => BigInt("0x" + bytes.toReversed().toHex());

/** Every encoding of a point of low order that is 32 bytes, canonical or not. */
export const LOW_ORDER: readonly Uint8Array[] = [
  0n,
  1n,
  PRIME - 1n,
  PRIME,
  PRIME + 1n,
  fromLe(Uint8Array.fromHex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05")),
  fromLe(Uint8Array.fromHex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")),
].flatMap((y) => [toLe(y), toLe(y + 2n ** 255n)]);

/** A key and a proof that verifiers are known to judge differently. */
export interface EdgeSignature {
  /** What is odd about it. */
  readonly name: string;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** Signature for the account. */
  readonly proof: Uint8Array;
}

/** A proof by the scalar, with this key and this commitment, whatever they really are. */
function signed(publicKey: Uint8Array, commitment: Uint8Array, nonce: bigint, id: string) {
  const challenge = fromLe(sha512(concat(commitment, publicKey, keyProofText(id)))) % ORDER;
  return { commitment, response: (nonce + challenge * SCALAR) % ORDER };
}

/** Odd keys and proofs for an account; Ed25519 verifiers differ in which of them they accept. */
export function edgeSignatures(accountId: string): EdgeSignature[] {
  const torsion = Point.fromHex(LOW_ORDER[10]!.toHex());
  const key = Point.BASE.multiply(SCALAR);
  const commitment = Point.BASE.multiply(NONCE).toBytes();
  const usual = key.toBytes();
  const mixed = key.add(torsion).toBytes();
  const make = (name: string, publicKey: Uint8Array, r: Uint8Array, nonce: bigint, more = 0n) => {
    const { response } = signed(publicKey, r, nonce, accountId);
    return { name, publicKey, proof: concat(r, toLe(response + more)) };
  };
  return [
    make("usual", usual, commitment, NONCE),
    make("response above the order", usual, commitment, NONCE, ORDER),
    make("response far above the order", usual, commitment, NONCE, 8n * ORDER),
    make("key with a part of low order", mixed, commitment, NONCE),
    ...LOW_ORDER.map((r) => make(`commitment ${r.toHex()}`, usual, r, 0n)),
    ...LOW_ORDER.map((r) => make(`both odd ${r.toHex()}`, mixed, r, 0n)),
    ...LOW_ORDER.map((k) => ({
      name: `low-order key ${k.toHex()}`,
      publicKey: k,
      proof: concat(commitment, toLe(NONCE)),
    })),
    // Encodings above the prime of points of high order: nobody knows their scalars.
    ...Array.from({ length: 17 }, (_, i) => toLe(PRIME + 2n + BigInt(i))).map((k) => ({
      name: `key above the prime ${k.toHex()}`,
      publicKey: k,
      proof: concat(commitment, toLe(NONCE)),
    })),
    { name: "zeros", publicKey: usual, proof: new Uint8Array(64) },
    { name: "ones", publicKey: usual, proof: new Uint8Array(64).fill(0xff) },
  ];
}
