import { getPublicKeyAsync } from "@noble/ed25519";
import { SvcError } from "../../errors.ts";
import type { DecryptCredential } from "../../interfaces/mod.ts";
import type { Answer, Call } from "../route.ts";
import type { Domain } from "../../memory/domain.ts";
import { parsePrivateKey } from "../../wire/signing/private_key.ts";
import { makeSessionToken, TOKEN_PURPOSE } from "../session_tokens.ts";

/** What of the caller's a token takes along to open memories with. */
async function credentialFor(
  { cipher }: Domain,
  { caller: { credential }, key }: Call<"POST /api/session-token">,
): Promise<DecryptCredential | undefined> {
  if (!cipher.needsCredential) return undefined;
  if (credential === undefined) throw new SvcError("decrypt_credential_required");
  const { session, delegateKey = "" } = credential;
  if (session !== undefined) return { session };
  const seed = parsePrivateKey(delegateKey);
  // A token is shown where its key would be: it carries no other one.
  if (seed === undefined || (await getPublicKeyAsync(seed)).toHex() !== key.publicKey) {
    throw new SvcError("decrypt_credential_invalid");
  }
  return { delegateKey: seed.toHex() };
}

/** Tokens that stand for a key on the MCP routes. */
export const sessionTokenHandlers = {
  "POST /api/session-token": async (
    domain: Domain,
    call: Call<"POST /api/session-token">,
  ): Promise<Answer<"POST /api/session-token">> => {
    const { caller, key, body, isOwnOrigin, mcp, signed } = call;
    // Signed for somebody else's relayer, which passed it on: the token would be that one's.
    if (!isOwnOrigin(body.audience)) throw new SvcError("audience_mismatch");
    if (body.permissions?.some((permission) => !key.permissions.includes(permission))) {
      throw new SvcError("permission_denied");
    }
    const made = makeSessionToken(domain.sealer(TOKEN_PURPOSE), {
      key: { publicKey: key.publicKey, accountId: caller.account.accountId },
      signed: signed(),
      audience: mcp,
      credential: await credentialFor(domain, call),
    }, domain.now());
    return { status: 200, body: { token: made.token, expires_in: made.seconds } };
  },
};
