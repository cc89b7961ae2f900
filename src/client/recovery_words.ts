import { generateMnemonic, mnemonicToSeed, validateMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";

/** Bits of entropy: twelve words. */
const ENTROPY_BITS = 128;
/** Hardened steps of the path that Sui wallets derive Ed25519 keys by, `m/44'/784'/0'/0'/0'`. */
const PATH = [44, 784, 0, 0, 0];
const HARDENED = 0x80000000;

/** Twelve words of BIP-39 that own an account; a Sui wallet makes the same key of them. */
export function makeRecoveryWords(): string {
  return generateMnemonic(wordlist, ENTROPY_BITS);
}

/**
 * The private key of recovery words (BIP-39, and SLIP-0010 with the path of Sui wallets); case and
 * spaces between the words are nothing.
 *
 * @returns 32 bytes, or `undefined` for words that are no recovery words: one that is not in the
 * list, another number of them, or a checksum that does not fit.
 */
export async function seedOfRecoveryWords(
  text: string,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const words = text.normalize("NFKD").trim().toLowerCase().split(/\s+/).join(" ");
  if (!validateMnemonic(words, wordlist)) return undefined;
  const seed = await mnemonicToSeed(words);
  let node = await hmac512(new TextEncoder().encode("ed25519 seed"), seed);
  for (const step of PATH) {
    const data = new Uint8Array(37);
    data.set(node.subarray(0, 32), 1);
    new DataView(data.buffer).setUint32(33, HARDENED + step);
    node = await hmac512(node.slice(32), data);
  }
  return node.slice(0, 32);
}

async function hmac512(key: Uint8Array, data: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const algorithm = { name: "HMAC", hash: "SHA-512" };
  const made = await crypto.subtle.importKey("raw", key.slice(), algorithm, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", made, data.slice()));
}
