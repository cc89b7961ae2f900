import { ed25519 } from "@noble/curves/ed25519.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { keyProofText } from "../../src/wire/signing/signing.ts";
import { addressOf } from "../../src/wire/keys.ts";

/** A point of order 8. */
const TORSION = "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05";
const ORDER = ed25519.Point.Fn.ORDER;

const concat = (...parts: readonly Uint8Array[]): Uint8Array =>
  new Uint8Array(parts.flatMap((part) => [...part]));

const leNumber = (bytes: Uint8Array): bigint => BigInt("0x" + bytes.toReversed().toHex());

/** A delegate key of a test; the same number gives the same key. */
export class TestKey {
  readonly #secret: Uint8Array;
  readonly #nonce: bigint;
  /** Raw public key. */
  readonly bytes: Uint8Array;
  /** 64 hex characters. */
  readonly hex: string;
  /** Sui address. */
  readonly address: string;

  constructor(number: number) {
    this.#secret = new Uint8Array(32).fill(number);
    this.#nonce = BigInt(number) * 2n ** 200n + 12_345n;
    this.bytes = ed25519.getPublicKey(this.#secret);
    this.hex = this.bytes.toHex();
    this.address = addressOf(this.hex);
  }

  /** Proof of possession for an account. */
  proof(accountId: string): Uint8Array {
    return ed25519.sign(keyProofText(accountId), this.#secret);
  }

  /**
   * A proof that only cofactored verification accepts, as the chain's does: its commitment has a part
   * of low order.
   */
  cofactoredProof(accountId: string): Uint8Array {
    const { Point } = ed25519;
    const message = keyProofText(accountId);
    const commitment = Point.BASE.multiply(this.#nonce).add(Point.fromHex(TORSION)).toBytes();
    const challenge = leNumber(sha512(concat(commitment, this.bytes, message))) % ORDER;
    const { scalar } = ed25519.utils.getExtendedPublicKey(this.#secret);
    const response = (this.#nonce + challenge * scalar) % ORDER;
    const tail = Uint8Array.fromHex(response.toString(16).padStart(64, "0")).reverse();
    return concat(commitment, tail);
  }
}
