import { hash } from "node:crypto";
import type { Permission } from "../../interfaces/mod.ts";
import type { Sealer } from "../../interfaces/plugin.ts";
import type { Domain } from "../../memory/domain.ts";
import { readSessionToken } from "../../wire/session_token.ts";
import type { AnswerOf } from "../../wire/route_types.ts";
import type { AccountCache } from "../account_cache.ts";
import type { OwnAddress } from "../own_address.ts";
import type { RequestContext } from "../request.ts";
import { openSessionToken } from "../session_tokens.ts";
import { makeAccessToken } from "./access_token.ts";
import type { Grants, KeyOfAccount, OnReuse, OpenGrant } from "./grants.ts";
import { OAuthError } from "./oauth_error.ts";
import { scopeOf } from "./scopes.ts";

/** What tokens stand on. */
export interface TokenParts {
  readonly address: OwnAddress;
  readonly accounts: Pick<AccountCache, "find">;
  readonly grants: Grants;
  /** Seals session tokens. */
  readonly tokens: Sealer;
  /** Whether the cipher opens records with the caller's key. */
  readonly needsCredential: boolean;
  /** Tells owners what their apps did. */
  readonly activity: Domain["activity"];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Members of a form. */
export type Form = Readonly<Record<string, string | undefined>>;

const VERIFIER = /^[\w.~-]{43,128}$/;

/** Whether the app has the secret of which its question named the hash (RFC 7636 4.6). */
function isVerified(verifier: string, challenge: string): boolean {
  return VERIFIER.test(verifier) && hash("sha256", verifier, "base64url") === challenge;
}

function checkResource({ resource }: Form, context: RequestContext, address: OwnAddress): void {
  if (resource === undefined || address.isConnect(resource, context)) return;
  throw new OAuthError("invalid_target", "resource is not the MCP endpoint of this relayer");
}

type Opened = ReturnType<Grants["openCode"]>;

/** What a code was made for, when this is the app that asked. */
function openCode(grants: Grants, form: Form, onReuse: OnReuse): Opened {
  const { code, client_id: clientId, code_verifier: verifier, redirect_uri: redirectUri } = form;
  if (code === undefined || verifier === undefined) {
    throw new OAuthError("invalid_request", "code and code_verifier are needed");
  }
  const opened = grants.openCode(code, onReuse);
  const { granted, publicKey } = opened;
  const isTheirs = clientId === granted.clientId &&
    (redirectUri === undefined || redirectUri === granted.redirectUri) &&
    isVerified(verifier, granted.challenge);
  if (isTheirs) return opened;
  // Somebody else has it, or a program that will have it wrong again.
  grants.endOf(publicKey);
  throw new OAuthError("invalid_grant", "The code is another app's, or code_verifier is wrong");
}

function openRefreshToken(
  grants: Grants,
  { refresh_token: token, client_id: clientId }: Form,
  onReuse: OnReuse,
): Opened {
  if (token === undefined) {
    throw new OAuthError("invalid_request", "refresh_token is needed");
  }
  const opened = grants.openRefreshToken(token, onReuse);
  if (clientId === opened.granted.clientId) return opened;
  throw new OAuthError("invalid_grant", "The refresh token is another app's");
}

/** What a key may do now. */
async function permissionsOf(
  { accounts, grants }: TokenParts,
  { publicKey, accountId }: OpenGrant,
  clientIp: string,
): Promise<readonly Permission[]> {
  const found = await accounts.find(publicKey, accountId, clientIp);
  if (found === undefined) {
    grants.endOf(publicKey);
    throw new OAuthError("invalid_grant", "The app was removed, or its time is over");
  }
  if (found.account.active) return found.key.permissions;
  // Its owner may switch it on again, and would else have to connect every app anew.
  throw new OAuthError("temporarily_unavailable", "The account is switched off");
}

/**
 * Tokens for a code or a refresh token (RFC 6749 4.1.3 and 6).
 *
 * @throws {OAuthError} what the app is told.
 * @throws {SvcError} `chain_unavailable`, `rate_limited`, `storage_unavailable`; then what was shown
 * is still good.
 */
export async function answerToken(
  parts: TokenParts,
  form: Form,
  context: RequestContext,
): Promise<AnswerOf<"POST /oauth/token">> {
  const { address, grants, tokens, needsCredential, activity, now } = parts;
  const { grant_type: type } = form;
  if (type !== "authorization_code" && type !== "refresh_token") {
    throw new OAuthError(
      type === undefined ? "invalid_request" : "unsupported_grant_type",
      "grant_type must be authorization_code or refresh_token",
    );
  }
  checkResource(form, context, address);
  const note = ({ accountId, publicKey: key }: KeyOfAccount, outcome: string) => {
    const from = address.whereIs(context);
    activity.note({ accountId, key, action: "POST /oauth/token", via: "http", from, outcome });
  };
  // The owner should know: somebody else had it.
  const onReuse: OnReuse = (grant) => note(grant, "token_revoked");
  const open = () =>
    type === "authorization_code"
      ? openCode(grants, form, onReuse)
      : openRefreshToken(grants, form, onReuse);
  const allowed = await permissionsOf(parts, open(), context.clientIp);
  // Opened anew after the wait: another request may have used it meanwhile.
  const { granted, accountId, publicKey, renew } = open();
  const permissions = permittedBy(granted.scope, allowed, form.scope);
  const { seed } = granted;
  const of = { seed, accountId, permissions, origin: address.base, needsCredential };
  const made = makeAccessToken(tokens, { ...of, audience: address.connect }, now());
  // Whoever left has not read what comes next, and keeps what was shown.
  context.request.signal.throwIfAborted();
  note({ accountId, publicKey }, "ok");
  return {
    access_token: made.token,
    token_type: "Bearer",
    expires_in: made.seconds,
    refresh_token: renew(),
    scope: permissions.join(" "),
  };
}

/** What a token allows: of what was asked for what the key may, and no more than this time. */
function permittedBy(
  asked: readonly Permission[],
  allowed: readonly Permission[],
  narrower: string | undefined,
): readonly Permission[] {
  const now = scopeOf(narrower);
  const left = asked.filter((one) => allowed.includes(one) && now.includes(one));
  if (left.length > 0) return left;
  throw new OAuthError("invalid_scope", "Nothing of it was granted");
}

/**
 * Ends what a token stands for, the app's key with it (RFC 7009). What is no token, or has ended, is
 * nobody's any more.
 */
export function revoke({ address, grants, tokens, now }: TokenParts, { token }: Form): void {
  if (token === undefined) throw new OAuthError("invalid_request", "token is needed");
  grants.revoke(token);
  if (readSessionToken(token) === undefined) return;
  try {
    grants.endOf(openSessionToken(tokens, token, [address.connect], now()).publicKey);
  } catch {
    // Not one of this relayer's.
  }
}
