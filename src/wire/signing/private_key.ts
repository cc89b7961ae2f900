import { bech32 } from "@scure/base";

const HEX_KEY = /^(?:0x)?([0-9a-fA-F]{64})$/;
const SUI_PREFIX = "suiprivkey";
/** First byte of a `suiprivkey` payload that holds an Ed25519 key. */
const ED25519_FLAG = 0;

/**
 * Reads an Ed25519 private key (the 32-byte seed): 64 hex characters, `0x` allowed, or the
 * `suiprivkey1…` text that Sui wallets export (bech32 of BIP 173 over a scheme flag and the seed).
 *
 * @returns 32 bytes, or `undefined` for anything else, also for keys of another scheme.
 */
export function parsePrivateKey(text: string): Uint8Array<ArrayBuffer> | undefined {
  const hex = HEX_KEY.exec(text)?.[1];
  if (hex !== undefined) return Uint8Array.fromHex(hex);
  const { prefix, words } = bech32.decodeUnsafe(text, 128) ?? {};
  const payload = prefix === SUI_PREFIX ? bech32.fromWordsUnsafe(words!) : undefined;
  return payload?.length === 33 && payload[0] === ED25519_FLAG ? payload.slice(1) : undefined;
}

/**
 * Writes an Ed25519 private key the way Sui wallets export and import it.
 *
 * @param seed 32 bytes.
 * @returns `suiprivkey1…`, which {@linkcode parsePrivateKey} reads.
 */
export function formatPrivateKey(seed: Uint8Array): string {
  return bech32.encode(SUI_PREFIX, bech32.toWords(new Uint8Array([ED25519_FLAG, ...seed])));
}
