import { SvcError } from "../../errors.ts";
import type { Answer, Call } from "../route.ts";
import type { Domain } from "../../memory/domain.ts";
import { makeSessionToken, TOKEN_PURPOSE } from "../session_tokens.ts";

/** Tokens that stand for a key on the MCP routes. */
export const sessionTokenHandlers = {
  "POST /api/session-token": (
    { cipher, sealer, now }: Domain,
    { caller, key, body, isOwnOrigin }: Call<"POST /api/session-token">,
  ): Answer<"POST /api/session-token"> => {
    // Signed for somebody else's relayer, which passed it on: the token would be that one's.
    if (!isOwnOrigin(body.audience)) throw new SvcError("audience_mismatch");
    const session = cipher.needsCredential ? caller.credential?.session : undefined;
    if (cipher.needsCredential && session === undefined) {
      throw new SvcError("decrypt_credential_required");
    }
    const { publicKey } = key;
    const { accountId } = caller.account;
    const made = makeSessionToken(sealer(TOKEN_PURPOSE), { publicKey, accountId }, session, now());
    return { status: 200, body: { token: made.token, expires_in: made.seconds } };
  },
};
