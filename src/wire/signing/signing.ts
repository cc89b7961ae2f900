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
  return utf8.encode(`${text}.${fields.nonce}.${fields.accountId ?? ""}`);
}

/**
 * SHA-256 of a body, 64 lower-case hex characters. Runs everywhere; a server uses the faster
 * `nativeBodySha256` of `verify.ts`.
 */
export function bodySha256(bytes: Uint8Array): string {
  return sha256(bytes).toHex();
}
