import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import { BoundedMap } from "../bounded_map.ts";
import { SvcError } from "../errors.ts";
import type { DecryptCredential, Permission } from "../interfaces/mod.ts";
import type { Sealer } from "../interfaces/plugin.ts";
import { parseBody } from "../wire/request_members.ts";
import { TIMESTAMP_WINDOW_SECONDS } from "../wire/limits.ts";
import { readSessionToken, type SessionToken, writeSessionToken } from "../wire/session_token.ts";
import { canonicalText } from "../wire/signing/signing.ts";
import { nativeBodySha256, verifyStrict } from "../wire/signing/verify.ts";
import { ASKED_TOKEN } from "../wire/table/session_token.ts";
import type { Authorization } from "./account_cache.ts";

/** Purpose of the subkey that seals tokens. */
export const TOKEN_PURPOSE = "session token";
/** Longest session of a key service that fits into a token's header, in characters. */
const SESSION_CHARACTERS = 4096;

const utf8 = new TextEncoder();

/** What a token allows of what its key may do, and chooses for its holder. */
export interface TokenGrant {
  /** What it allows; all that its key may do when absent. */
  readonly permissions?: readonly Permission[] | undefined;
  /** Namespace of calls that name none. */
  readonly namespace?: string | undefined;
}

/** A request for a token as its key has signed it: what makes the token more than the relayer's word. */
export interface SignedRequest {
  /** The body, byte for byte. */
  readonly body: string;
  readonly timestamp: string;
  readonly nonce: string | undefined;
  /** `x-account-id` and `x-audience`, as sent. */
  readonly accountId: string | undefined;
  readonly audience: string | undefined;
  /** 64 bytes. */
  readonly signature: Uint8Array;
}

/** What a token is made of. */
export interface TokenRequest {
  readonly key: Pick<SessionToken, "publicKey" | "accountId">;
  readonly signed: SignedRequest;
  /** Where it is good: the address of the resource, such as `https://memory.example/api/mcp`. */
  readonly audience: string;
  /** What opens records, where the cipher needs it. */
  readonly credential: DecryptCredential | undefined;
}

/** What is sealed into a token: short names, since it travels with every request. */
interface Sealed {
  readonly aud: string;
  /** What was signed: body, timestamp, nonce, account, audience, and the signature in base64. */
  readonly req: readonly [string, string, string | null, string | null, string | null, string];
  readonly session?: string;
  readonly key?: string;
}

/** When the session of a key service ends, milliseconds since the epoch. */
function endOf(session: string): number {
  try {
    const bytes = Uint8Array.fromBase64(session);
    const { creationTimeMs, ttlMin } = JSON.parse(new TextDecoder().decode(bytes));
    const end = Math.floor(creationTimeMs + ttlMin * 60_000);
    if (Number.isSafeInteger(end) && session.length <= SESSION_CHARACTERS) return end;
  } catch {
    // Not of this form.
  }
  throw new SvcError("decrypt_credential_invalid");
}

function digestOf({ permissions, namespace }: TokenGrant): string {
  if (permissions === undefined && namespace === undefined) return "0".repeat(32);
  return hash("sha256", JSON.stringify([permissions, namespace]), "hex").slice(0, 32);
}

/** What a body asks for. */
function askedFor(body: string): TokenGrant & { readonly seconds: number } {
  const { permissions, namespace, expires_in: seconds } = parseBody(ASKED_TOKEN, JSON.parse(body));
  return {
    seconds,
    permissions: permissions && [...new Set(permissions)].sort(),
    namespace,
  };
}

/** Requests whose signature has been looked at, by a digest of all that it covers. */
const MOST_SEEN = 1_000;
const seen = new BoundedMap<string, true>(MOST_SEEN);

/** Whether a key has signed a request for a token. */
function isSigned(publicKey: string, signed: SignedRequest): boolean {
  const { body, signature, timestamp, nonce, accountId, audience } = signed;
  const bodySha256 = nativeBodySha256(utf8.encode(body));
  const target = "/api/session-token";
  const fields = { timestamp, method: "POST", target, bodySha256, nonce, accountId, audience };
  const text = canonicalText(fields);
  // Of the whole process: it is a fact, and each request of a token asks for it.
  const id = hash("sha256", Buffer.concat([utf8.encode(publicKey), signature, text]), "hex");
  if (seen.has(id)) return true;
  if (!verifyStrict(publicKey, text, signature)) return false;
  seen.set(id, true);
  return true;
}

/**
 * Makes a token for a key of an account. With a session of a key service it opens memories as long
 * as that session lasts, and ends with it.
 *
 * @param now Milliseconds since the epoch.
 * @throws {SvcError} `decrypt_credential_invalid` when that session has ended or is none.
 */
export function makeSessionToken(
  sealer: Pick<Sealer, "seal">,
  { key, signed, audience, credential }: TokenRequest,
  now: number,
): { readonly token: string; readonly seconds: number } {
  const { seconds: asked, ...grant } = askedFor(signed.body);
  const { session, delegateKey } = credential ?? {};
  const wanted = now + asked * 1000;
  const expiresAt = session === undefined ? wanted : Math.min(wanted, endOf(session));
  const seconds = Math.floor((expiresAt - now) / 1000);
  if (seconds < 1) throw new SvcError("decrypt_credential_invalid");
  const { body, timestamp, nonce = null, signature } = signed;
  const { accountId = null, audience: origin = null } = signed;
  const said: Sealed = {
    aud: audience,
    req: [body, timestamp, nonce, accountId, origin, signature.toBase64()],
    ...(session === undefined ? {} : { session }),
    ...(session !== undefined || delegateKey === undefined ? {} : { key: delegateKey }),
  };
  const sealed = (boundTo: string) => sealer.seal(utf8.encode(JSON.stringify(said)), boundTo);
  const head = { ...key, expiresAt, grant: digestOf(grant) };
  return { token: writeSessionToken(head, sealed), seconds };
}

/** A token that this relayer made and that has not ended. */
export interface OpenedToken extends Pick<SessionToken, "publicKey" | "accountId" | "expiresAt"> {
  readonly credential: DecryptCredential | undefined;
  readonly grant: TokenGrant;
  /** Where it is good: the address of the resource. */
  readonly audience: string;
}

type ReadToken = NonNullable<ReturnType<typeof readSessionToken>>;

/** What is in a token, and what its key has asked for by its own signature. */
function openSealed(
  sealer: Pick<Sealer, "open">,
  { sealed, boundTo, publicKey, expiresAt, grant }: ReadToken,
): Sealed & { readonly grant: TokenGrant } {
  try {
    const said: Sealed = JSON.parse(new TextDecoder().decode(sealer.open(sealed, boundTo)));
    const [body, timestamp, nonce, accountId, audience, signature] = said.req;
    const asked = askedFor(body);
    const latest = Number(timestamp) + TIMESTAMP_WINDOW_SECONDS + asked.seconds;
    const isAsked = digestOf(asked) === grant && expiresAt <= latest * 1000 &&
      isSigned(publicKey, {
        body,
        timestamp,
        nonce: nonce ?? undefined,
        accountId: accountId ?? undefined,
        audience: audience ?? undefined,
        signature: Uint8Array.fromBase64(signature),
      });
    if (isAsked) return { ...said, grant: asked };
  } catch {
    // Also one of an earlier version, which lasted for an hour.
  }
  throw new SvcError("auth_header_invalid");
}

/**
 * Opens a token. The relayer's own word is not enough: its key must have asked for just this, so that
 * whoever has the relayer key cannot write one.
 *
 * @param audiences Where it is shown: the addresses that the resource may have.
 * @param now Milliseconds since the epoch.
 * @throws {SvcError} `auth_header_invalid` when this relayer did not make it, `token_expired`,
 * `audience_mismatch` when it was made for another address.
 */
export function openSessionToken(
  sealer: Pick<Sealer, "open">,
  text: string,
  audiences: readonly string[],
  now: number,
): OpenedToken {
  const token = readSessionToken(text);
  if (token === undefined) throw new SvcError("auth_header_invalid");
  const { aud, grant, session, key } = openSealed(sealer, token);
  if (token.expiresAt <= now) throw new SvcError("token_expired");
  if (!audiences.includes(aud)) {
    throw new SvcError("audience_mismatch", "The token was made for another address");
  }
  const { publicKey, accountId, expiresAt } = token;
  const credential = {
    ...(session === undefined ? {} : { session }),
    ...(key === undefined ? {} : { delegateKey: key }),
  };
  return {
    publicKey,
    accountId,
    expiresAt,
    credential: Object.keys(credential).length === 0 ? undefined : credential,
    grant,
    audience: aud,
  };
}

/** An authorization with what its token leaves of it. */
export function narrowed(
  { account, key }: Authorization,
  { permissions }: TokenGrant = {},
): Authorization {
  if (permissions === undefined) return { account, key };
  const left = key.permissions.filter((permission) => permissions.includes(permission));
  return { account, key: { ...key, permissions: left } };
}
