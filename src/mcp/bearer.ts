import { createHmac } from "node:crypto";
import { SvcError } from "../errors.ts";
import { HEADER } from "../wire/headers.ts";
import { isObjectId } from "../wire/keys.ts";
import { NAMESPACE_BYTES } from "../wire/limits.ts";
import { readSessionToken } from "../wire/session_token.ts";
import { parsePrivateKey } from "../wire/signing/private_key.ts";

/** Headers of the older naming (docs/protocol.md#17.2). */
const ALIAS_ACCOUNT = "x-memwal-account-id";
const ALIAS_NAMESPACE = "x-memwal-namespace";

/** Random key of this process: a hash of credentials means nothing elsewhere. */
const HASH_KEY = crypto.getRandomValues(new Uint8Array(32));

/** A session token; what it says openly is not true until the relayer has opened it. */
export interface TokenSecret {
  readonly token: string;
  /** When it says it ends, milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** What signs, a seed of 64 lower-case hex characters, or what stands for signatures. */
export type BearerSecret =
  | { readonly privateKey: string; readonly token?: undefined }
  | TokenSecret;

/** Credentials of an MCP request, well formed but not yet checked against the account. */
export interface Bearer {
  readonly secret: BearerSecret;
  /** `0x` and 64 lower-case hex characters. */
  readonly accountId: string;
  /**
   * Identifies key and account inside this process; tells nothing about them. All tokens of a key
   * that grant the same have the same.
   */
  readonly hash: string;
}

/** What else the headers of a session say. */
export interface SessionHeaders {
  /** Namespace of calls that name none. */
  readonly namespace: string | undefined;
  /** Whether the account came by the header of the older naming alone. */
  readonly alias: boolean;
}

/** HMAC-SHA256 under a key of this process, 64 hex characters. */
export function processHash(text: string): string {
  return createHmac("sha256", HASH_KEY).update(text).digest("hex");
}

/**
 * Reads bearer and account; a token names its account itself.
 *
 * @throws {SvcError} `auth_headers_missing`, `auth_header_invalid`.
 */
export function readBearer(headers: Headers, aliases: boolean): Bearer {
  const authorization = headers.get("authorization");
  const account = headers.get(HEADER.mcpAccountId) || (aliases && headers.get(ALIAS_ACCOUNT));
  const text = /^Bearer +(\S{1,12000}) *$/i.exec(authorization ?? "")?.[1] ?? "";
  const token = readSessionToken(text);
  if (!authorization || !account && token === undefined) {
    throw new SvcError(
      "auth_headers_missing",
      `Send a token as a bearer token, or the delegate key and ${HEADER.mcpAccountId}`,
    );
  }
  const seed = parsePrivateKey(text);
  const accountId = (account || token?.accountId || "").toLowerCase();
  if (!isObjectId(accountId) || (seed ?? token) === undefined) {
    throw new SvcError("auth_header_invalid", "The bearer token or the account id is malformed");
  }
  if (token === undefined) {
    const privateKey = seed!.toHex();
    return { secret: { privateKey }, accountId, hash: processHash(`${privateKey} ${accountId}`) };
  }
  if (token.accountId !== accountId) {
    throw new SvcError("auth_header_invalid", "The bearer token is of another account");
  }
  const { publicKey, expiresAt, grant } = token;
  const hash = processHash(`token ${publicKey} ${accountId} ${grant}`);
  return { secret: { token: text, expiresAt }, accountId, hash };
}

/** Decodes a header as UTF-8: HTTP hands over its bytes as Latin-1. */
function utf8Of(value: string): string | undefined {
  const bytes = Uint8Array.from(value, (unit) => unit.charCodeAt(0));
  if (bytes.length > NAMESPACE_BYTES) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Reads the session's namespace and naming.
 *
 * @throws {SvcError} `invalid_namespace`.
 */
export function readSessionHeaders(headers: Headers, aliases: boolean): SessionHeaders {
  const raw = headers.get(HEADER.mcpNamespace) ||
    (aliases ? headers.get(ALIAS_NAMESPACE) : undefined);
  const namespace = raw ? utf8Of(raw) : "";
  if (namespace === undefined || /\p{Cc}/u.test(namespace)) {
    throw new SvcError("invalid_namespace");
  }
  const alias = aliases && !headers.get(HEADER.mcpAccountId) && !!headers.get(ALIAS_ACCOUNT);
  return { namespace: namespace === "" ? undefined : namespace, alias };
}
