import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
} from "node:crypto";
import { Buffer } from "node:buffer";
import { SvcError } from "../errors.ts";
import type { Sealer } from "../interfaces/plugin.ts";

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + NONCE_BYTES;
/** Separates these subkeys from any other use of the same 32 bytes. */
const SALT = "svc relayer key v1";

const refused = (cause?: unknown) =>
  new SvcError("storage_unavailable", "Stored data cannot be opened", { retryable: false, cause });

/** AES-256-GCM under one subkey. Nonces are random: safe for 2^32 records a purpose. */
class GcmSealer implements Sealer {
  readonly #key: KeyObject;
  readonly #raw: Uint8Array<ArrayBuffer>;
  #webKey: CryptoKey | undefined;

  constructor(raw: Uint8Array<ArrayBuffer>) {
    this.#raw = raw;
    this.#key = createSecretKey(raw);
  }

  seal(bytes: Uint8Array, additionalData: string): Uint8Array {
    const sealed = new Uint8Array(HEAD_BYTES + bytes.length + TAG_BYTES);
    sealed[0] = VERSION;
    const nonce = crypto.getRandomValues(sealed.subarray(1, HEAD_BYTES));
    const cipher = createCipheriv("aes-256-gcm", this.#key, nonce);
    cipher.setAAD(Buffer.from(additionalData));
    sealed.set(cipher.update(bytes), HEAD_BYTES);
    cipher.final();
    sealed.set(cipher.getAuthTag(), HEAD_BYTES + bytes.length);
    return sealed;
  }

  async sealLarge(bytes: Uint8Array, additionalData: string): Promise<Uint8Array> {
    const sealed = new Uint8Array(HEAD_BYTES + bytes.length + TAG_BYTES);
    sealed[0] = VERSION;
    const iv = crypto.getRandomValues(sealed.subarray(1, HEAD_BYTES));
    const parameters = webParameters(iv, additionalData);
    const key = this.#webKey ?? await this.#forWeb();
    const source = bytes as Uint8Array<ArrayBuffer>;
    sealed.set(new Uint8Array(await crypto.subtle.encrypt(parameters, key, source)), HEAD_BYTES);
    return sealed;
  }

  open(bytes: Uint8Array, additionalData: string): Uint8Array {
    checkHead(bytes);
    const end = bytes.length - TAG_BYTES;
    try {
      const decipher = createDecipheriv("aes-256-gcm", this.#key, bytes.subarray(1, HEAD_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(additionalData));
      decipher.setAuthTag(bytes.subarray(end));
      const plain = decipher.update(bytes.subarray(HEAD_BYTES, end));
      decipher.final();
      return new Uint8Array(plain.buffer, plain.byteOffset, plain.byteLength);
    } catch (error) {
      throw refused(error);
    }
  }

  async openLarge(bytes: Uint8Array, additionalData: string): Promise<Uint8Array> {
    checkHead(bytes);
    // With the key at hand nothing is awaited before `decrypt`, which takes a copy at once.
    const source = (this.#webKey === undefined ? new Uint8Array(bytes) : bytes) as Uint8Array<
      ArrayBuffer
    >;
    const parameters = webParameters(source.subarray(1, HEAD_BYTES), additionalData);
    const key = this.#webKey ?? await this.#forWeb();
    try {
      return new Uint8Array(
        await crypto.subtle.decrypt(parameters, key, source.subarray(HEAD_BYTES)),
      );
    } catch (error) {
      throw refused(error);
    }
  }

  async #forWeb(): Promise<CryptoKey> {
    const usages: KeyUsage[] = ["encrypt", "decrypt"];
    return this.#webKey = await crypto.subtle.importKey("raw", this.#raw, "AES-GCM", false, usages);
  }
}

function webParameters(iv: Uint8Array<ArrayBuffer>, additionalData: string): AesGcmParams {
  return { name: "AES-GCM", iv, additionalData: new TextEncoder().encode(additionalData) };
}

function checkHead(bytes: Uint8Array): void {
  if (bytes.length < HEAD_BYTES + TAG_BYTES || bytes[0] !== VERSION) throw refused();
}

const BLOCK_BYTES = 64;
/** Longest text, in UTF-16 units, that is hashed in the buffer made in advance. */
const SHORT_TEXT = 512;

const textEncoder = new TextEncoder();

/**
 * HMAC-SHA256 (RFC 2104) under a key of at most a block, from two hashes: every signed request needs
 * one. `createHmac` makes streams for it and takes several times as long, and so does a hash that
 * answers bytes instead of hex.
 */
function hmacUnder(key: Uint8Array): (data: string | Uint8Array) => Uint8Array {
  const padded = (byte: number, length: number): Uint8Array<ArrayBuffer> => {
    const bytes = new Uint8Array(BLOCK_BYTES + length);
    for (let i = 0; i < BLOCK_BYTES; i++) bytes[i] = (key[i] ?? 0) ^ byte;
    return bytes;
  };
  // UTF-8 takes three bytes a UTF-16 unit at most.
  const inner = padded(0x36, 3 * SHORT_TEXT);
  const outer = padded(0x5c, 32);
  const [place, digest] = [inner.subarray(BLOCK_BYTES), outer.subarray(BLOCK_BYTES)];
  const messageOf = (data: string | Uint8Array): Uint8Array => {
    if (typeof data === "string" && data.length <= SHORT_TEXT) {
      return inner.subarray(0, BLOCK_BYTES + textEncoder.encodeInto(data, place).written);
    }
    const bytes = typeof data === "string" ? textEncoder.encode(data) : data;
    const message = new Uint8Array(BLOCK_BYTES + bytes.length);
    message.set(inner.subarray(0, BLOCK_BYTES));
    message.set(bytes, BLOCK_BYTES);
    return message;
  };
  return (data) => {
    digest.setFromHex(hash("sha256", messageOf(data), "hex"));
    return Uint8Array.fromHex(hash("sha256", outer, "hex"));
  };
}

/** The relayer's own 32 bytes; everything it seals or authenticates uses a subkey of them. */
export class RelayerKey {
  readonly #key: Uint8Array;

  /**
   * Copies the key.
   * @throws {RangeError} unless there are 32 bytes.
   */
  constructor(key: Uint8Array) {
    if (key.length !== 32) throw new RangeError("A relayer key has 32 bytes");
    this.#key = key.slice();
  }

  /** Encryption under a subkey; equal purposes give equal keys. */
  sealer(purpose: string): Sealer {
    return new GcmSealer(this.#subkey(`seal ${purpose}`));
  }

  /** HMAC-SHA256 under a subkey: 32 bytes for any data. */
  hmac(purpose: string): (data: string | Uint8Array) => Uint8Array {
    return hmacUnder(this.#subkey(`hmac ${purpose}`));
  }

  /** Tells keys apart without giving anything of them away: 16 hex characters. */
  fingerprint(): string {
    return this.hmac("fingerprint")("svc").subarray(0, 8).toHex();
  }

  /** The key as 64 hex characters, for the pipe to the relayer's own process. */
  reveal(): string {
    return this.#key.toHex();
  }

  toJSON(): string {
    return "[secret]";
  }

  /** HKDF-SHA256 (RFC 5869). */
  #subkey(info: string): Uint8Array<ArrayBuffer> {
    return new Uint8Array(hkdfSync("sha256", this.#key, SALT, info, 32));
  }
}
