import { SvcError } from "../errors.ts";
import type { DecryptCredential } from "../interfaces/mod.ts";
import type { Sealer } from "../interfaces/plugin.ts";
import { SESSION_TOKEN_SECONDS } from "../wire/limits.ts";
import { readSessionToken, type SessionToken, writeSessionToken } from "../wire/session_token.ts";

/** Purpose of the subkey that seals tokens. */
export const TOKEN_PURPOSE = "session token";
/** Longest session of a key service that fits into a token's header, in characters. */
const SESSION_CHARACTERS = 4096;

const utf8 = new TextEncoder();

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

/**
 * Makes a token for a key of an account. With a session of a key service it opens memories as long
 * as that session lasts.
 *
 * @param now Milliseconds since the epoch.
 * @throws {SvcError} `decrypt_credential_invalid` when that session has ended or is none.
 */
export function makeSessionToken(
  sealer: Pick<Sealer, "seal">,
  key: Pick<SessionToken, "publicKey" | "accountId">,
  session: string | undefined,
  now: number,
): { readonly token: string; readonly seconds: number } {
  const hour = now + SESSION_TOKEN_SECONDS * 1000;
  const expiresAt = session === undefined ? hour : Math.min(hour, endOf(session));
  const seconds = Math.floor((expiresAt - now) / 1000);
  if (seconds < 1) throw new SvcError("decrypt_credential_invalid");
  const sealed = (boundTo: string) => sealer.seal(utf8.encode(session ?? ""), boundTo);
  return { token: writeSessionToken({ ...key, expiresAt }, sealed), seconds };
}

/** A token that this relayer made and that has not ended. */
export interface OpenedToken extends Pick<SessionToken, "publicKey" | "accountId"> {
  readonly credential: DecryptCredential | undefined;
}

/**
 * Opens a token.
 *
 * @param now Milliseconds since the epoch.
 * @throws {SvcError} `auth_header_invalid` when it has ended, or this relayer did not make it.
 */
export function openSessionToken(
  sealer: Pick<Sealer, "open">,
  text: string,
  now: number,
): OpenedToken {
  const token = readSessionToken(text);
  if (token === undefined || token.expiresAt <= now) throw new SvcError("auth_header_invalid");
  try {
    const session = new TextDecoder().decode(sealer.open(token.sealed, token.boundTo));
    const { publicKey, accountId } = token;
    return { publicKey, accountId, credential: session === "" ? undefined : { session } };
  } catch {
    throw new SvcError("auth_header_invalid");
  }
}
