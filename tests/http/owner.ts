import { keyProofText } from "../../src/wire/signing/signing.ts";
import { type Answer, type Json, TestKey, type TestRelayer } from "../relayer_fixture.ts";
import type { Wallet } from "./wallet.ts";

/** What may be changed about an owner's request. */
export interface OwnerOptions {
  /** `null` sends none. */
  readonly origin?: string | null;
  readonly host?: string;
  readonly peer?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends one call of an owner route as the dashboard does. */
export function ownerPost(
  svc: TestRelayer,
  path: string,
  body: unknown,
  options: OwnerOptions = {},
): Promise<Answer> {
  const { origin = "http://localhost:5173", host = "127.0.0.1:8000", peer, headers } = options;
  return svc.plain("POST", path, body, {
    headers: { host, ...(origin === null ? {} : { origin }), ...headers },
    ...(peer === undefined ? {} : { peer }),
  });
}

/** Parameters that add a key, a new one by default, with its proof. */
export function keyParams(accountId: string, key: TestKey = new TestKey()): Json {
  const proof = key.sign(keyProofText(accountId));
  return { public_key: key.publicKey, label: "a", permissions: ["read"], proof };
}

/** Asks for a challenge for an owner's action. */
function askChallenge(
  svc: TestRelayer,
  { address }: Wallet,
  action: string,
  params: Json,
  options: OwnerOptions = {},
): Promise<Answer> {
  return ownerPost(svc, "/accounts/challenge", { address, action, params }, options);
}

/** A challenge for an owner's action. */
export async function challengeFor(
  svc: TestRelayer,
  wallet: Wallet,
  action: string,
  params: Json = {},
  options: OwnerOptions = {},
): Promise<string> {
  const answer = await askChallenge(svc, wallet, action, params, options);
  if (answer.status !== 200) throw new Error(`challenge answered ${answer.text}`);
  return answer.body.challenge;
}

/** Challenge, signature and call; the answer to the challenge when that is refused. */
export async function ownerCall(
  svc: TestRelayer,
  wallet: Wallet,
  action: string,
  path: string,
  params: Json = {},
): Promise<Answer> {
  const asked = await askChallenge(svc, wallet, action, params);
  if (asked.status !== 200) return asked;
  const { challenge } = asked.body;
  const signature = wallet.signPersonalMessage(challenge);
  return await ownerPost(svc, path, { challenge, signature, params });
}
