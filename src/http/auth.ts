import { SvcError } from "../errors.ts";
import { HEADER } from "../wire/headers.ts";
import { isObjectId, isPublicKey, isUuid } from "../wire/keys.ts";
import { TIMESTAMP_WINDOW_SECONDS } from "../wire/limits.ts";
import { isIdempotencyKey } from "../wire/mcp.ts";
import { canonicalText } from "../wire/signing/signing.ts";
import { verifyStrict } from "../wire/signing/verify.ts";
import type { DecryptCredential } from "../interfaces/mod.ts";
import type { Target } from "./request.ts";
import type { OpenedToken } from "./session_tokens.ts";

const SIGNATURE = /^[0-9a-fA-F]{128}$/;
const TIMESTAMP = /^\d{10}$/;
const DELEGATE_KEY = /^([0-9a-fA-F]{64}|suiprivkey1[02-9ac-hj-np-z]+)$/;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** The signature headers of a request, well formed. */
export interface AuthHeaders {
  /** 64 lower-case hex characters. */
  readonly publicKey: string;
  /** 64 bytes; absent where a session token stands for it. */
  readonly signature: Uint8Array | undefined;
  /** As sent. */
  readonly timestamp: string;
  /** As sent; without one it is the 4-field form. */
  readonly nonce: string | undefined;
  /** As sent; with it, it is the host-bound form. */
  readonly audience: string | undefined;
  /** As sent. */
  readonly accountId: string | undefined;
  /** What opens records, where the cipher needs it. */
  readonly credential: DecryptCredential | undefined;
  /** What stands for the signature; absent where there is one. */
  readonly token?: OpenedToken;
}

/** An empty optional header counts as absent. */
function optional(headers: Headers, name: string): string | undefined {
  return headers.get(name) || undefined;
}

function credentialOf(headers: Headers): DecryptCredential | undefined {
  const session = optional(headers, HEADER.sealSession);
  const delegateKey = optional(headers, HEADER.delegateKey);
  if (session === undefined && delegateKey === undefined) return undefined;
  if (session !== undefined && !BASE64.test(session)) throw new SvcError("auth_header_invalid");
  if (delegateKey !== undefined && !DELEGATE_KEY.test(delegateKey)) {
    throw new SvcError("auth_header_invalid");
  }
  return {
    ...(session === undefined ? {} : { session }),
    ...(delegateKey === undefined ? {} : { delegateKey }),
  };
}

/** What a relayer wants of signature headers. */
export interface HeaderRules {
  /** Refuse the 4-field form. */
  readonly requireNonce: boolean;
  /** Refuse every form but the host-bound one. */
  readonly requireHostBound: boolean;
  /** Whether an origin is one of the relayer's. */
  readonly isOwnOrigin: (origin: string) => boolean;
  /** Whether others on the network can read the request: a private key is refused then. */
  readonly isExposed: boolean;
}

/**
 * Checks 2 to 6 of docs/protocol.md#4.3. Repeated headers arrive joined with a comma, which no
 * pattern lets pass.
 *
 * @param now milliseconds since the epoch.
 * @throws {SvcError} `auth_headers_missing`, `auth_header_invalid`, `nonce_invalid`,
 * `key_over_plain_http`, `audience_mismatch`, `upgrade_required`, `unsigned_query`,
 * `timestamp_out_of_range`.
 */
export function readAuthHeaders(
  headers: Headers,
  target: Target,
  rules: HeaderRules,
  now: number,
): AuthHeaders {
  const publicKey = headers.get(HEADER.publicKey);
  const signature = headers.get(HEADER.signature);
  const timestamp = headers.get(HEADER.timestamp);
  if (!publicKey || !signature || !timestamp) throw new SvcError("auth_headers_missing");
  const nonce = optional(headers, HEADER.nonce);
  const accountId = optional(headers, HEADER.accountId);
  const audience = optional(headers, HEADER.audience);
  if (
    audience !== undefined && nonce === undefined ||
    !isPublicKey(publicKey) || !SIGNATURE.test(signature) || !TIMESTAMP.test(timestamp) ||
    (accountId !== undefined && !isObjectId(accountId))
  ) {
    throw new SvcError("auth_header_invalid");
  }
  if (nonce !== undefined && !isUuid(nonce)) throw new SvcError("nonce_invalid");
  const credential = credentialOf(headers);
  if (credential?.delegateKey !== undefined && rules.isExposed) {
    throw new SvcError("key_over_plain_http");
  }
  if (audience !== undefined && !rules.isOwnOrigin(audience)) {
    throw new SvcError("audience_mismatch");
  }
  if (
    nonce === undefined && rules.requireNonce || audience === undefined && rules.requireHostBound
  ) throw new SvcError("upgrade_required");
  if (nonce === undefined && target.query !== "") throw new SvcError("unsigned_query");
  if (Math.abs(now / 1000 - Number(timestamp)) > TIMESTAMP_WINDOW_SECONDS) {
    throw new SvcError("timestamp_out_of_range");
  }
  return {
    publicKey: publicKey.toLowerCase(),
    signature: Uint8Array.fromHex(signature),
    timestamp,
    nonce,
    audience,
    accountId,
    credential,
  };
}

/**
 * Check 8: the signature, strictly.
 *
 * @returns the signed text.
 * @throws {SvcError} `signature_invalid`.
 */
export function checkSignature(
  auth: AuthHeaders,
  method: string,
  target: Target,
  bodySha256: string,
): string {
  const message = canonicalText({
    timestamp: auth.timestamp,
    method,
    target: target.path + target.query,
    bodySha256,
    nonce: auth.nonce,
    accountId: auth.accountId,
    audience: auth.audience,
  });
  if (auth.signature === undefined || !verifyStrict(auth.publicKey, message, auth.signature)) {
    throw new SvcError("signature_invalid");
  }
  return new TextDecoder().decode(message);
}

/**
 * The idempotency key of a request.
 *
 * @throws {SvcError} `invalid_idempotency_key`.
 */
export function idempotencyKeyOf(headers: Headers): string | undefined {
  const key = optional(headers, HEADER.idempotencyKey);
  if (key !== undefined && !isIdempotencyKey(key)) throw new SvcError("invalid_idempotency_key");
  return key;
}
