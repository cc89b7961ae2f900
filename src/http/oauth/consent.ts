import { SvcError } from "../../errors.ts";
import { isObjectId } from "../../wire/keys.ts";
import { parseBody } from "../../wire/request_members.ts";
import { CONSENT } from "../../wire/table/consent.ts";
import type { AccountCache } from "../account_cache.ts";
import type { OwnAddress } from "../own_address.ts";
import type { Answer, OpenCall, OpenHandlers } from "../route.ts";
import { publicKeyOf } from "./access_token.ts";
import { answerAddress } from "./authorize.ts";
import type { Grants } from "./grants.ts";
import type { Tickets } from "./tickets.ts";

/** What the owner's decision stands on. */
export interface ConsentParts {
  readonly address: Pick<OwnAddress, "issuer" | "checkHost">;
  readonly accounts: Pick<AccountCache, "authorize">;
  readonly tickets: Tickets;
  readonly grants: Grants;
  /** `{web_url}`: only its pages decide. */
  readonly webUrl: string;
}

const ROWS = {
  asks: CONSENT["POST /oauth/consent"].body,
  approves: CONSENT["POST /oauth/consent/approve"].body,
};
const SEED = /^[0-9a-fA-F]{64}$/;

/** The handlers of the page that asks the owner. It has no cookie: what it sends proves what it may. */
export function consentHandlers(
  parts: ConsentParts,
  admit: (call: OpenCall) => Promise<void>,
): OpenHandlers<"consent"> {
  const { address, tickets, webUrl } = parts;
  /** The body of a call that the dashboard made. */
  async function read(call: OpenCall): Promise<unknown> {
    const { context, body } = call;
    address.checkHost(context.request);
    await admit(call);
    if (context.request.headers.get("origin") !== new URL(webUrl).origin) {
      throw new SvcError("origin_not_allowed");
    }
    return await body();
  }
  return {
    "POST /oauth/consent": async (call) => {
      const { request } = parseBody(ROWS.asks, await read(call));
      const { name, host, redirectUri, scope } = tickets.open(request);
      const body = {
        ...(name === undefined ? {} : { client_name: name }),
        ...(host === undefined ? {} : { client_host: host }),
        redirect_uri: redirectUri,
        scope: [...scope],
      };
      return { status: 200, body };
    },
    "POST /oauth/consent/approve": async (call) => await approve(parts, call, await read(call)),
    "POST /oauth/consent/deny": async (call) => {
      const { request } = parseBody(ROWS.asks, await read(call));
      const { redirectUri, state } = tickets.open(request);
      const members = { error: "access_denied", state, iss: address.issuer };
      return { status: 200, body: { redirect_to: answerAddress(redirectUri, members) } };
    },
  };
}

/** Takes the key that the owner added for the app, and answers where its code goes. */
async function approve(
  { address, accounts, tickets, grants }: ConsentParts,
  { context }: OpenCall,
  body: unknown,
): Promise<Answer<"POST /oauth/consent/approve">> {
  const { request, account_id: id, private_key: key } = parseBody(ROWS.approves, body);
  const { clientId, redirectUri, state, challenge, scope } = tickets.open(request);
  if (!isObjectId(id)) throw new SvcError("invalid_parameter", "account_id: it is none");
  if (!SEED.test(key)) throw new SvcError("invalid_parameter", "private_key: it is none");
  const accountId = id.toLowerCase();
  const seed = key.toLowerCase();
  const publicKey = publicKeyOf(seed);
  // The owner signed for it on the way to the account: nobody else can have it listed.
  const found = await accounts.authorize(publicKey, accountId, context.clientIp);
  await grants.fresh();
  if (grants.has(publicKey)) throw new SvcError("key_exists");
  const listed = new Set(found.account.keys.map((one) => one.publicKey));
  const { expiresAt } = found.key;
  const granted = { seed, clientId, redirectUri, challenge, scope };
  const code = grants.issueCode({ publicKey, accountId, expiresAt }, granted, listed);
  await grants.kept();
  const members = { code, state, iss: address.issuer };
  return { status: 200, body: { redirect_to: answerAddress(redirectUri, members) } };
}
