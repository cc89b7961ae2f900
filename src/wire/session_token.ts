/** What a token says openly, and what only the relayer that made it can open. */
export interface SessionToken {
  /** Key that it stands for, 64 lower-case hex characters. */
  readonly publicKey: string;
  /** Account of the key, `0x` and 64 lower-case hex characters. */
  readonly accountId: string;
  /** When it ends, milliseconds since the epoch. */
  readonly expiresAt: number;
  /**
   * Tells tokens of one key apart that allow or choose different things, 32 lower-case hex
   * characters: whoever goes on with another token of the same key and grant gets no more by it.
   */
  readonly grant: string;
}

/** What labels of tokens' keys begin with: registries keep nothing else about a key. */
export const TOKEN_LABEL = "token: ";
/** What every token begins with. */
export const TOKEN_PREFIX = "svct1.";
const TEXT = /^svct1\.([\w-]{100,10000})$/;
/** Public key, account, a 64-bit time, and the grant. */
const HEAD_BYTES = 88;
const BASE64URL = { alphabet: "base64url", omitPadding: true } as const;

function headOf({ publicKey, accountId, expiresAt, grant }: SessionToken): Uint8Array<ArrayBuffer> {
  const head = new Uint8Array(HEAD_BYTES);
  head.setFromHex(publicKey + accountId.slice(2));
  new DataView(head.buffer).setBigUint64(64, BigInt(expiresAt));
  head.subarray(72).setFromHex(grant);
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
  return TOKEN_PREFIX + bytes.toBase64(BASE64URL);
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
  if (bytes.length <= HEAD_BYTES) return undefined;
  const head = bytes.subarray(0, HEAD_BYTES);
  return {
    publicKey: head.subarray(0, 32).toHex(),
    accountId: `0x${head.subarray(32, 64).toHex()}`,
    expiresAt: Number(new DataView(head.buffer).getBigUint64(64)),
    grant: head.subarray(72).toHex(),
    sealed: bytes.subarray(HEAD_BYTES),
    boundTo: head.toHex(),
  };
}
