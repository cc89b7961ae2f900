const HEX_KEY = /^(?:0x)?([0-9a-fA-F]{64})$/;
const CHARSET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
const SUI_PREFIX = "suiprivkey";
/** First byte of a `suiprivkey` payload that holds an Ed25519 key. */
const ED25519_FLAG = 0;

/** Checksum polynomial of BIP 173. */
function polymod(values: readonly number[]): number {
  let checksum = 1;
  for (const value of values) {
    const top = checksum >>> 25;
    checksum = ((checksum & 0x1ffffff) << 5) ^ value;
    for (let i = 0; i < 5; i++) if ((top >>> i) & 1) checksum ^= GENERATOR[i]!;
  }
  return checksum;
}

/** 5-bit groups as bytes; the padding must be short and zero. */
function toBytes(words: readonly number[]): Uint8Array<ArrayBuffer> | undefined {
  const bytes: number[] = [];
  let held = 0;
  let bits = 0;
  for (const word of words) {
    held = ((held << 5) | word) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((held >>> bits) & 0xff);
    }
  }
  if (bits >= 5 || (held & ((1 << bits) - 1)) !== 0) return undefined;
  return Uint8Array.from(bytes);
}

/** The prefix as BIP 173 checks it: high bits, a zero, low bits. */
function expandedPrefix(): number[] {
  const codes = Array.from(SUI_PREFIX, (c) => c.charCodeAt(0));
  return [...codes.map((c) => c >>> 5), 0, ...codes.map((c) => c & 31)];
}

/** The payload of a BIP 173 text with the prefix of Sui private keys. */
function decodeSuiBech32(text: string): Uint8Array<ArrayBuffer> | undefined {
  const lower = text.toLowerCase();
  if (text !== lower && text !== text.toUpperCase()) return undefined;
  if (!lower.startsWith(SUI_PREFIX + "1")) return undefined;
  const words = Array.from(lower.slice(SUI_PREFIX.length + 1), (c) => CHARSET.indexOf(c));
  if (words.length < 6 || words.includes(-1)) return undefined;
  return polymod([...expandedPrefix(), ...words]) === 1 ? toBytes(words.slice(0, -6)) : undefined;
}

/**
 * Reads an Ed25519 private key (the 32-byte seed): 64 hex characters, `0x` allowed, or the
 * `suiprivkey1…` text that Sui wallets export (bech32 of BIP 173 over a scheme flag and the seed).
 *
 * @returns 32 bytes, or `undefined` for anything else, also for keys of another scheme.
 */
export function parsePrivateKey(text: string): Uint8Array<ArrayBuffer> | undefined {
  const hex = HEX_KEY.exec(text)?.[1];
  if (hex !== undefined) return Uint8Array.fromHex(hex);
  if (text.length > 128) return undefined;
  const payload = decodeSuiBech32(text);
  if (payload?.length !== 33 || payload[0] !== ED25519_FLAG) return undefined;
  return payload.slice(1);
}

/** Bytes as 5-bit groups, the last one filled up with zeros. */
function toWords(bytes: Uint8Array): number[] {
  const words: number[] = [];
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff;
    for (bits += 8; bits >= 5; bits -= 5) words.push((held >>> (bits - 5)) & 31);
  }
  return bits > 0 ? [...words, (held << (5 - bits)) & 31] : words;
}

/**
 * Writes an Ed25519 private key the way Sui wallets export and import it.
 *
 * @param seed 32 bytes.
 * @returns `suiprivkey1…`, which {@linkcode parsePrivateKey} reads.
 */
export function formatPrivateKey(seed: Uint8Array): string {
  const payload = new Uint8Array(33);
  payload[0] = ED25519_FLAG;
  payload.set(seed, 1);
  const words = toWords(payload);
  const checksum = polymod([...expandedPrefix(), ...words, 0, 0, 0, 0, 0, 0]) ^ 1;
  const check = [25, 20, 15, 10, 5, 0].map((shift) => (checksum >>> shift) & 31);
  return `${SUI_PREFIX}1${[...words, ...check].map((word) => CHARSET[word]).join("")}`;
}
