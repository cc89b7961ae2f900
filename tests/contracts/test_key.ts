import { ed25519 } from "@noble/curves/ed25519.js";
import { keyProofText } from "../../src/protocol/key_proof.ts";
import { addressOf } from "../../src/protocol/keys.ts";

/** A delegate key of a test; the same number gives the same key. */
export class TestKey {
  readonly #secret: Uint8Array;
  /** Raw public key. */
  readonly bytes: Uint8Array;
  /** 64 hex characters. */
  readonly hex: string;
  /** Sui address. */
  readonly address: string;

  constructor(number: number) {
    this.#secret = new Uint8Array(32).fill(number);
    this.bytes = ed25519.getPublicKey(this.#secret);
    this.hex = this.bytes.toHex();
    this.address = addressOf(this.hex);
  }

  /** Proof of possession for an account. */
  proof(accountId: string): Uint8Array {
    return ed25519.sign(keyProofText(accountId), this.#secret);
  }
}
