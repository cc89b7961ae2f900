import { SvcError } from "../../../src/errors.ts";
import type { AnswerOf, Sent } from "../../../src/wire/route_types.ts";
import { addKnownKey } from "../activity/known_keys.ts";
import type { NewKey } from "../owner/account.ts";
import { keyProof } from "../owner/key_proof.ts";
import type { Session } from "../session.ts";
import { makeKey, seedOf } from "../wallet/ed25519.ts";
import { labelOf, type Question } from "./asker.ts";
import { postJson } from "./post_json.ts";

/** What the owner grants. */
export type Granted = Pick<NewKey, "permissions" | "expires_at" | "namespaces">;

type Approved = AnswerOf<"POST /oauth/consent/approve">;

/** How often a relayer is asked that has not seen a change on the chain yet, and the pause. */
const TRIES = 6;
const PAUSE_MS = 2000;

const isUnknownKey = (error: unknown): boolean =>
  error instanceof SvcError && error.code === "account_not_authorized";

/** Hands the app's key over for its code; a relayer may see a chain's change a little later. */
async function handOver(session: Session, body: Sent<"POST /oauth/consent/approve">) {
  const { relayerUrl, accounts } = session.config;
  for (let tries = accounts === "chain" ? TRIES : 1;; tries--) {
    try {
      return await postJson<Approved>(relayerUrl, "/oauth/consent/approve", body);
    } catch (error) {
      if (tries <= 1 || !isUnknownKey(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}

/**
 * Lets an app in: makes a key for it, has the owner add it, and hands it to the relayer for a code. A
 * key that the relayer does not take leaves the account.
 *
 * @returns where the browser goes.
 */
export async function letIn(
  session: Session,
  { request, question, granted }: {
    readonly request: string;
    readonly question: Question;
    readonly granted: Granted;
  },
): Promise<string> {
  const { privateKey, publicKey } = await makeKey(true);
  const { account_id } = await session.change(async (owner, wallet, accountId) => {
    const account = await owner.addKey(wallet, accountId, {
      public_key: publicKey,
      label: labelOf(question),
      proof: await keyProof(privateKey, accountId),
      ...granted,
    });
    await addKnownKey(accountId, publicKey);
    return account;
  });
  try {
    const private_key = (await seedOf(privateKey)).toHex();
    return (await handOver(session, { request, account_id, private_key })).redirect_to;
  } catch (error) {
    await session.change((owner, wallet, id) => owner.removeKey(wallet, id, publicKey))
      .catch(() => {});
    throw error;
  }
}

/** Tells an app that it is not let in; answers where the browser goes. */
export async function keepOut({ config }: Session, request: string): Promise<string> {
  const path = "/oauth/consent/deny";
  type Answered = AnswerOf<"POST /oauth/consent/deny">;
  return (await postJson<Answered>(config.relayerUrl, path, { request })).redirect_to;
}

/** What an app asks for. */
export function readQuestion({ config }: Session, request: string): Promise<Question> {
  return postJson<Question>(config.relayerUrl, "/oauth/consent", { request });
}
