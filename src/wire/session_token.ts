/** What a session token says openly, and what only the relayer that made it can open. */
export interface SessionToken {
  /** Key that it stands for, 64 lower-case hex characters. */
  readonly publicKey: string;
  /** Account of the key, `0x` and 64 lower-case hex characters. */
  readonly accountId: string;
  /** When it ends, milliseconds since the epoch. */
  readonly expiresAt: number;
}

const PREFIX = "svct1.";
const TEXT = /^svct1\.([\w-]{100,10000})$/;
/** Public key, account, and a 64-bit time. */
const HEAD_BYTES = 72;
const BASE64URL = { alphabet: "base64url", omitPadding: true } as const;

function headOf({ publicKey, accountId, expiresAt }: SessionToken): Uint8Array<ArrayBuffer> {
  const head = new Uint8Array(HEAD_BYTES);
  head.setFromHex(publicKey + accountId.slice(2));
  new DataView(head.buffer).setBigUint64(64, BigInt(expiresAt));
  return head;
}

/**
 * Writes a token.
 *
 * @param seal Seals what only the relayer reads, bound to this text.
 */
export function writeSessionToken(
  token: SessionToken,
  seal: (boundTo: string) => Uint8Array,
): string {
  const head = headOf(token);
  const sealed = seal(head.toHex());
  const bytes = new Uint8Array(HEAD_BYTES + sealed.length);
  bytes.set(head);
  bytes.set(sealed, HEAD_BYTES);
  return PREFIX + bytes.toBase64(BASE64URL);
}

/**
 * Reads a token. What it says openly is only true once the relayer has opened `sealed`, which is
 * bound to `boundTo`.
 *
 * @returns `undefined` for a text that is none.
 */
export function readSessionToken(
  text: string,
): SessionToken & { readonly sealed: Uint8Array; readonly boundTo: string } | undefined {
  const encoded = TEXT.exec(text)?.[1];
  // Four characters hold three bytes, and one is never left over.
  if (encoded === undefined || encoded.length % 4 === 1) return undefined;
  const bytes = Uint8Array.fromBase64(encoded, { alphabet: "base64url" });
  const head = bytes.subarray(0, HEAD_BYTES);
  return {
    publicKey: head.subarray(0, 32).toHex(),
    accountId: `0x${head.subarray(32, 64).toHex()}`,
    expiresAt: Number(new DataView(head.buffer).getBigUint64(64)),
    sealed: bytes.subarray(HEAD_BYTES),
    boundTo: head.toHex(),
  };
}
