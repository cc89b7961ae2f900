import type * as NodeCrypto from "node:crypto";
import { getPublicKey, hashes, sign } from "@noble/ed25519";
import { sha512 } from "@noble/hashes/sha2.js";

hashes.sha512 = sha512;

/** DER of a PrivateKeyInfo with an Ed25519 seed, up to the seed itself (RFC 8410). */
const PKCS8_PREFIX = Uint8Array.fromHex("302e020100300506032b657004220420");

/** An Ed25519 key ready to sign. */
export interface Signer {
  /** Public key, 64 lower-case hex characters. */
  readonly publicKey: string;
  /** Signs bytes; 64 bytes. */
  sign(message: Uint8Array<ArrayBuffer>): Promise<Uint8Array>;
}

function pkcs8Of(seed: Uint8Array): Uint8Array<ArrayBuffer> {
  if (seed.length !== 32) throw new RangeError("An Ed25519 seed has 32 bytes");
  const pkcs8 = new Uint8Array(48);
  pkcs8.set(PKCS8_PREFIX);
  pkcs8.set(seed, 16);
  return pkcs8;
}

/**
 * Node's own crypto, in Node and Deno. Not imported, because a browser has none.
 *
 * @throws {TypeError} where there is none.
 */
function nodeCrypto(): typeof NodeCrypto {
  return Reflect.get(globalThis, "process").getBuiltinModule("node:crypto");
}

/** By Node's own crypto: a signature takes a quarter of WebCrypto's time. Throws where there is none. */
export function nodeSigner(seed: Uint8Array): Signer {
  const { createPrivateKey, createPublicKey, sign } = nodeCrypto();
  const der = pkcs8Of(seed) as Uint8Array as NodeCrypto.PrivateKeyInput["key"];
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const { x } = createPublicKey(key).export({ format: "jwk" });
  // A platform that only looks like Node may throw here, and not at the first request.
  sign(null, PKCS8_PREFIX, key);
  return {
    publicKey: hexOf(x),
    sign: (message) => Promise.resolve(new Uint8Array(sign(null, message, key))),
  };
}

function hexOf(base64url: string | undefined): string {
  return Uint8Array.fromBase64(base64url!, { alphabet: "base64url" }).toHex();
}

/** By WebCrypto; rejects where it has no Ed25519 (older browsers, insecure origins). */
export async function webSigner(seed: Uint8Array): Promise<Signer> {
  const key = await crypto.subtle.importKey("pkcs8", pkcs8Of(seed), "Ed25519", true, ["sign"]);
  const { x } = await crypto.subtle.exportKey("jwk", key);
  return {
    publicKey: hexOf(x),
    sign: async (message) => new Uint8Array(await crypto.subtle.sign("Ed25519", key, message)),
  };
}

/** In JavaScript. */
export function scriptSigner(seed: Uint8Array): Signer {
  return {
    publicKey: getPublicKey(seed).toHex(),
    sign: (message) => Promise.resolve(sign(message, seed)),
  };
}

/**
 * Makes a signer from a 32-byte seed: the platform's Ed25519 where there is one, else JavaScript.
 */
export async function makeSigner(seed: Uint8Array): Promise<Signer> {
  for (const make of [nodeSigner, webSigner]) {
    try {
      return await make(seed);
    } catch {
      // The platform lacks it.
    }
  }
  return scriptSigner(seed);
}
