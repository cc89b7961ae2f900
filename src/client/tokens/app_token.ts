import { SvcError } from "../../errors.ts";
import type { AnswerOf, Sent } from "../../wire/route_types.ts";
import { SvcClient } from "../client.ts";
import { isExposed } from "../options.ts";

type Asked = Sent<"POST /api/session-token">;

/** Whose token is asked for, and where. */
export interface TokenOwner {
  /** Base address of the relayer. */
  readonly relayer: string;
  readonly accountId: string;
  /** 64 hex characters. */
  readonly privateKey: string;
}

/**
 * Has a relayer make a token that stands for a key on the MCP routes, for an app that sends one
 * header. Where memories open with the key itself, the relayer seals it into the token; over plain
 * http to another machine it is not sent.
 *
 * @throws {SvcError} what the relayer refuses it with.
 */
export async function makeAppToken(
  { relayer, accountId, privateKey }: TokenOwner,
  asked: Omit<Asked, "audience">,
): Promise<AnswerOf<"POST /api/session-token">> {
  const body = { audience: new URL(relayer).origin, ...asked };
  const call = (sendDelegateKey: boolean) => {
    const client = new SvcClient({ baseUrl: relayer, accountId, privateKey, sendDelegateKey });
    const opens = sendDelegateKey ? { decrypts: true } as const : {};
    return client.call("POST /api/session-token", { body, ...opens });
  };
  try {
    return await call(false);
  } catch (error) {
    // A session of a key service ends long before the token shall.
    const needsKey = error instanceof SvcError && error.code === "decrypt_credential_required";
    if (!needsKey || isExposed(relayer)) throw error;
    return await call(true);
  }
}
