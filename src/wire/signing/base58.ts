const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** Base58 with Bitcoin's alphabet, as Sui writes digests; a leading zero byte is a `1`. */
export function base58(bytes: Uint8Array): string {
  const zeros = bytes.findIndex((byte) => byte !== 0);
  let rest = BigInt(`0x${bytes.toHex() || "0"}`);
  let text = "";
  for (; rest > 0n; rest /= 58n) text = ALPHABET[Number(rest % 58n)] + text;
  return "1".repeat(zeros < 0 ? bytes.length : zeros) + text;
}
