import { limitKey } from "../../wire/ip_addresses.ts";
import { queryOf, type RequestContext } from "../request.ts";
import type { OwnAddress } from "../own_address.ts";
import type { OAuthClient } from "./client.ts";
import type { OAuthClients } from "./clients.ts";
import { OAuthError } from "./oauth_error.ts";
import { isLoopbackRedirect, isRegistered, parseRedirect } from "./redirect_uris.ts";
import { scopeOf } from "./scopes.ts";
import type { Tickets } from "./tickets.ts";

/** What the authorization endpoint stands on. */
export interface AuthorizeParts {
  readonly address: OwnAddress;
  readonly clients: OAuthClients;
  readonly tickets: Tickets;
  /** `{web_url}`. */
  readonly webUrl: string;
}

/** Longest state of an app, in characters. */
const STATE_CHARACTERS = 4096;
const CHALLENGE = /^[\w-]{43}$/;

/** An address with what the app is told there (RFC 6749 4.1.2, RFC 9207 2). */
export function answerAddress(
  redirectUri: string,
  members: Readonly<Record<string, string | undefined>>,
): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined) url.searchParams.set(name, value);
  }
  return url.href;
}

/** A text for the person whose browser came here; nobody is sent on. */
function page(text: string): Response {
  const headers = {
    "content-type": "text/plain; charset=utf-8",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
  };
  return new Response(`This app cannot be connected. ${text}\n`, { status: 400, headers });
}

function leadTo(location: string): Response {
  const headers = { location, "referrer-policy": "no-referrer", "cache-control": "no-store" };
  return new Response(null, { status: 302, headers });
}

/** A query's members, each of which is sent at most once (RFC 6749 3.1). */
function membersOf({ target }: RequestContext): ReadonlyMap<string, string> {
  const names = target.query.slice(1).split("&").map((part) => part.split("=")[0]);
  if (new Set(names).size < names.length) {
    throw new OAuthError("invalid_request", "A parameter is sent twice");
  }
  return queryOf(target);
}

/** What a question must be like besides its app and its address. */
function checkQuestion(
  members: ReadonlyMap<string, string>,
  context: RequestContext,
  address: OwnAddress,
): void {
  if (members.get("response_type") !== "code") {
    throw new OAuthError("unsupported_response_type", "response_type must be code");
  }
  if (members.get("code_challenge_method") !== "S256") {
    throw new OAuthError("invalid_request", "code_challenge_method must be S256");
  }
  if (!CHALLENGE.test(members.get("code_challenge") ?? "")) {
    throw new OAuthError("invalid_request", "code_challenge must have 43 characters of base64url");
  }
  if ((members.get("state") ?? "").length > STATE_CHARACTERS) {
    throw new OAuthError("invalid_request", "state has more than 4096 characters");
  }
  const resource = members.get("resource");
  if (resource !== undefined && !address.isConnect(resource, context)) {
    throw new OAuthError("invalid_target", "resource is not the MCP endpoint of this relayer");
  }
}

/** The app and its address, which must be right before anybody is sent anywhere. */
async function askerOf(
  members: ReadonlyMap<string, string>,
  clients: OAuthClients,
  network: string,
): Promise<{ readonly client: OAuthClient; readonly redirectUri: string }> {
  const client = await clients.find(members.get("client_id") ?? "", network);
  const redirectUri = members.get("redirect_uri") ?? "";
  if (parseRedirect(redirectUri) === undefined || !isRegistered(redirectUri, client.redirectUris)) {
    throw new OAuthError("invalid_request", "redirect_uri is not one of the app's");
  }
  return { client, redirectUri };
}

/**
 * Answers a browser that an app sent here: with the way to the dashboard, where its owner decides.
 *
 * @throws {SvcError} `overloaded` when too many documents of apps are being read.
 */
export async function authorize(
  { address, clients, tickets, webUrl }: AuthorizeParts,
  context: RequestContext,
): Promise<Response> {
  let told: string | undefined;
  let state: string | undefined;
  try {
    const members = membersOf(context);
    const { client, redirectUri } = await askerOf(members, clients, limitKey(context.clientIp));
    state = members.get("state");
    // Nobody is sent further away without a click: anybody can have an address of theirs registered,
    // or described, and a link of this relayer that leads there (RFC 9700 4.11.2).
    if (isLoopbackRedirect(new URL(redirectUri))) told = redirectUri;
    checkQuestion(members, context, address);
    const { clientId, name, host } = client;
    const ticket = tickets.seal({
      clientId,
      name,
      host,
      redirectUri,
      state,
      challenge: members.get("code_challenge")!,
      scope: scopeOf(members.get("scope")),
    });
    // Behind `#` it reaches no log of a server, and no page that is linked to.
    return leadTo(`${webUrl}/connect/app#request=${ticket}`);
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    const { code, message } = error;
    if (told === undefined) return page(`${message}.`);
    const members = { error: code, error_description: message, state, iss: address.issuer };
    return leadTo(answerAddress(told, members));
  }
}
