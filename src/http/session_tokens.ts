import { hash } from "node:crypto";
import { SvcError } from "../errors.ts";
import type { DecryptCredential, Permission } from "../interfaces/mod.ts";
import type { Sealer } from "../interfaces/plugin.ts";
import { readSessionToken, type SessionToken, writeSessionToken } from "../wire/session_token.ts";
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

/** What a token is made of. */
export interface TokenRequest extends TokenGrant {
  readonly key: Pick<SessionToken, "publicKey" | "accountId">;
  /** Where it is good: the address of the resource, such as `https://memory.example/api/mcp`. */
  readonly audience: string;
  /** How long it is asked for, seconds. */
  readonly seconds: number;
  /** What opens records, where the cipher needs it. */
  readonly credential: DecryptCredential | undefined;
}

/** What is sealed into a token: short names, since it travels with every request. */
interface Sealed {
  readonly aud: string;
  /** When it was made, milliseconds since the epoch. */
  readonly iat: number;
  readonly scope?: readonly Permission[];
  readonly ns?: string;
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

/**
 * Makes a token for a key of an account. With a session of a key service it opens memories as long
 * as that session lasts, and ends with it.
 *
 * @param now Milliseconds since the epoch.
 * @throws {SvcError} `decrypt_credential_invalid` when that session has ended or is none.
 */
export function makeSessionToken(
  sealer: Pick<Sealer, "seal">,
  { key, audience, seconds: asked, credential, ...grant }: TokenRequest,
  now: number,
): { readonly token: string; readonly seconds: number } {
  const { session, delegateKey } = credential ?? {};
  const wanted = now + asked * 1000;
  const expiresAt = session === undefined ? wanted : Math.min(wanted, endOf(session));
  const seconds = Math.floor((expiresAt - now) / 1000);
  if (seconds < 1) throw new SvcError("decrypt_credential_invalid");
  const said: Sealed = {
    aud: audience,
    iat: now,
    ...(grant.permissions === undefined ? {} : { scope: grant.permissions }),
    ...(grant.namespace === undefined ? {} : { ns: grant.namespace }),
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
}

function openSealed(
  sealer: Pick<Sealer, "open">,
  { sealed, boundTo }: NonNullable<ReturnType<typeof readSessionToken>>,
): Sealed {
  try {
    return JSON.parse(new TextDecoder().decode(sealer.open(sealed, boundTo)));
  } catch {
    // Also one of an earlier version, which lasted for an hour.
    throw new SvcError("auth_header_invalid");
  }
}

/**
 * Opens a token.
 *
 * @param audience Where it is shown: the address of the resource.
 * @param now Milliseconds since the epoch.
 * @throws {SvcError} `auth_header_invalid` when this relayer did not make it, `token_expired`,
 * `audience_mismatch` when it was made for another address.
 */
export function openSessionToken(
  sealer: Pick<Sealer, "open">,
  text: string,
  audience: string,
  now: number,
): OpenedToken {
  const token = readSessionToken(text);
  if (token === undefined) throw new SvcError("auth_header_invalid");
  const { aud, scope, ns, session, key } = openSealed(sealer, token);
  if (token.expiresAt <= now) throw new SvcError("token_expired");
  if (aud !== audience) {
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
    grant: { permissions: scope, namespace: ns },
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
