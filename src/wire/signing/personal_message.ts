import { blake2b } from "@noble/hashes/blake2.js";

/** Length of a BCS vector: unsigned LEB128. */
function uleb128(value: number): number[] {
  const bytes: number[] = [];
  for (; value >= 0x80; value >>>= 7) bytes.push(value & 0x7f | 0x80);
  return [...bytes, value];
}

/** What a Sui wallet signs for a personal message: intent `3 0 0`, then the message as BCS. */
export function personalMessageDigest(message: Uint8Array): Uint8Array {
  const length = uleb128(message.length);
  const bytes = new Uint8Array(3 + length.length + message.length);
  bytes.set([3, 0, 0, ...length]);
  bytes.set(message, 3 + length.length);
  return blake2b(bytes, { dkLen: 32 });
}
