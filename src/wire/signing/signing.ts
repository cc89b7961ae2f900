import { blake2b } from "@noble/hashes/blake2.js";
import { sha256 } from "@noble/hashes/sha2.js";

/** What a signature covers (docs/protocol.md#4.2); header values exactly as sent. */
interface SignedFields {
  /** Unix time in whole seconds, decimal. */
  readonly timestamp: string;
  /** Method in upper case. */
  readonly method: string;
  /**
   * Request target as sent: path, and `?` and the query when there is one; percent-encoding
   * untouched. The 4-field form has no query.
   */
  readonly target: string;
  /** SHA-256 of the body, 64 lower-case hex characters. */
  readonly bodySha256: string;
  /** Value of `x-nonce`; its presence selects the 6-field form. */
  readonly nonce?: string | undefined;
  /** Value of `x-account-id`; part of the 6-field form only. */
  readonly accountId?: string | undefined;
  /**
   * Value of `x-audience`: the origin that the request is for, such as `https://svc.example`. With it
   * the text is of the host-bound form, which has a nonce.
   */
  readonly audience?: string | undefined;
}

const utf8 = new TextEncoder();

/**
 * The bytes a request's signature is made over: fields joined with a period, as UTF-8.
 *
 * @example The 4-field form
 * ```ts
 * import { bodySha256, canonicalText } from "./signing.ts";
 *
 * const bytes = canonicalText({
 *   timestamp: "1767225600",
 *   method: "GET",
 *   target: "/api/account",
 *   bodySha256: bodySha256(new Uint8Array()),
 * });
 * if (!new TextDecoder().decode(bytes).startsWith("1767225600.GET./api/account.e3b0")) throw 1;
 * ```
 */
export function canonicalText(fields: SignedFields): Uint8Array<ArrayBuffer> {
  const text = `${fields.timestamp}.${fields.method}.${fields.target}.${fields.bodySha256}`;
  if (fields.nonce === undefined) return utf8.encode(text);
  const six = `${text}.${fields.nonce}.${fields.accountId ?? ""}`;
  // In front, where the other forms have ten digits: no text can be read as one of another form.
  return utf8.encode(fields.audience === undefined ? six : `${fields.audience}.${six}`);
}

/**
 * SHA-256 of a body, 64 lower-case hex characters. Runs everywhere; a server uses the faster
 * `nativeBodySha256` of `verify.ts`.
 */
export function bodySha256(bytes: Uint8Array): string {
  return sha256(bytes).toHex();
}

/** What stands before the account id in the bytes a new key signs (docs/protocol.md#14.2). */
const PREFIX = new TextEncoder().encode("svc-delegate-v1:");

/**
 * The bytes by whose signature a new key shows that somebody holds it.
 *
 * @param accountId `0x` and 64 hex characters: the account that shall list the key.
 */
export function keyProofText(accountId: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(PREFIX.length + 32);
  bytes.set(PREFIX);
  bytes.set(Uint8Array.fromHex(accountId.slice(2)), PREFIX.length);
  return bytes;
}

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
