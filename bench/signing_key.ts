import { Buffer } from "node:buffer";
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { canonicalText } from "../src/wire/signing/signing.ts";
import { nativeBodySha256 } from "../src/wire/signing/verify.ts";

const encoder = new TextEncoder();

/** A request as it goes over the wire. */
export type WireRequest = Uint8Array;

/** An unsigned GET. */
export function getRequest(path: string): WireRequest {
  return encoder.encode(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
}

/** A delegate key that signs whole requests in the 6-field form, before the clock runs. */
export class SigningKey {
  readonly #privateKey: KeyObject;
  readonly #accountId: string;
  /** 64 lower-case hex characters. */
  readonly publicKey: string;
  /** Seed, 64 lower-case hex characters. */
  readonly seed: string;

  /** Makes a key pair that names this account as the hint of every request. */
  constructor(accountId: string) {
    const { publicKey, privateKey } = generateKeyPairSync("ed25519");
    this.#privateKey = privateKey;
    this.#accountId = accountId;
    this.seed = privateKey.export({ type: "pkcs8", format: "der" }).subarray(-32).toString("hex");
    this.publicKey = publicKey.export({ type: "spki", format: "der" }).subarray(-32).toString(
      "hex",
    );
  }

  /** A signed request with a fresh nonce; valid for five minutes. */
  request(method: string, path: string, body?: unknown): WireRequest {
    const bytes = body === undefined ? new Uint8Array() : encoder.encode(JSON.stringify(body));
    const timestamp = String(Math.floor(Date.now() / 1000));
    const nonce = crypto.randomUUID();
    const text = canonicalText({
      timestamp,
      method,
      target: path,
      bodySha256: nativeBodySha256(bytes),
      nonce,
      accountId: this.#accountId,
    });
    const head = [
      `${method} ${path} HTTP/1.1`,
      "host: localhost",
      "content-type: application/json",
      `content-length: ${bytes.length}`,
      `x-public-key: ${this.publicKey}`,
      `x-signature: ${sign(null, text, this.#privateKey).toString("hex")}`,
      `x-timestamp: ${timestamp}`,
      `x-nonce: ${nonce}`,
      `x-account-id: ${this.#accountId}`,
      "",
      "",
    ].join("\r\n");
    return new Uint8Array(Buffer.concat([encoder.encode(head), bytes]));
  }
}
