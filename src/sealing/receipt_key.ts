import { Buffer } from "node:buffer";
import { createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import type { RelayerKey } from "./relayer_key.ts";

/** DER of a PrivateKeyInfo with an Ed25519 seed, up to the seed itself (RFC 8410). */
const PKCS8_PREFIX = Uint8Array.fromHex("302e020100300506032b657004220420");
/** What a signature covers in front of the statement: no other text of ours begins so. */
const DOMAIN = "svc-receipt-v1:";

const encoder = new TextEncoder();

/** Signs receipts of deletions. The key is made of the relayer key, and is the same after a restart. */
export class RelayerReceiptKey {
  readonly #key: KeyObject;
  /** Ed25519, 64 hex characters. */
  readonly publicKey: string;

  constructor(relayerKey: RelayerKey) {
    const seed = relayerKey.hmac("receipt key")("ed25519");
    const der = new Uint8Array([...PKCS8_PREFIX, ...seed]);
    this.#key = createPrivateKey({ key: Buffer.from(der), format: "der", type: "pkcs8" });
    const { x = "" } = createPublicKey(this.#key).export({ format: "jwk" });
    this.publicKey = Uint8Array.fromBase64(x, { alphabet: "base64url" }).toHex();
  }

  /** A statement with its signature. */
  sign(statement: string) {
    const signature = sign(null, encoder.encode(DOMAIN + statement), this.#key);
    return {
      statement,
      signature: new Uint8Array(signature).toHex(),
      public_key: this.publicKey,
    };
  }
}
