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

/** By the platform; rejects where it has no Ed25519 (older browsers, insecure origins). */
async function platformSigner(seed: Uint8Array): Promise<Signer> {
  const pkcs8 = new Uint8Array(48);
  pkcs8.set(PKCS8_PREFIX);
  pkcs8.set(seed, 16);
  const key = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", true, ["sign"]);
  const { x } = await crypto.subtle.exportKey("jwk", key);
  return {
    publicKey: Uint8Array.fromBase64(x!, { alphabet: "base64url" }).toHex(),
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
  try {
    return await platformSigner(seed);
  } catch {
    return scriptSigner(seed);
  }
}
