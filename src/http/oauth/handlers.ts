import { SvcError } from "../../errors.ts";
import { limitKey } from "../../wire/ip_addresses.ts";
import { parseBody } from "../../wire/request_members.ts";
import { OAUTH } from "../../wire/table/oauth.ts";
import type { Domain } from "../../memory/domain.ts";
import type { AccountCache } from "../account_cache.ts";
import type { OwnAddress } from "../own_address.ts";
import type { AddressLimiter } from "../limits/address_limits.ts";
import type { Layer } from "../limits/rate_limit.ts";
import type { AnswerOf } from "../../wire/route_types.ts";
import type { OpenCall, OpenHandlers } from "../route.ts";
import { TOKEN_PURPOSE } from "../session_tokens.ts";
import { authorize } from "./authorize.ts";
import type { OAuthClient } from "./client.ts";
import { ClientDocuments } from "./client_documents.ts";
import { OAuthClients } from "./clients.ts";
import { consentHandlers } from "./consent.ts";
import type { Grants } from "./grants.ts";
import { resourceMetadata, serverMetadata } from "./metadata.ts";
import type { PublicNetwork } from "../../interfaces/public_network.ts";
import { Tickets } from "./tickets.ts";
import { answerToken, revoke } from "./token.ts";

/** What apps are let in by. */
export interface OAuthParts {
  readonly domain: Domain;
  readonly accounts: AccountCache;
  readonly address: OwnAddress;
  readonly grants: Grants;
  readonly limiter: AddressLimiter;
  /** The internet, when absent. */
  readonly network: PublicNetwork | undefined;
}

/** Requests of a client address in a minute, by what they cost. */
const LAYERS = {
  reads: { name: "oauth_ip", limit: 120, seconds: 60 },
  asks: { name: "oauth_authorize_ip", limit: 30, seconds: 60 },
  registers: { name: "oauth_register_ip", limit: 20, seconds: 60 },
  tokens: { name: "oauth_token_ip", limit: 60, seconds: 60 },
  decides: { name: "oauth_consent_ip", limit: 30, seconds: 60 },
} as const satisfies Readonly<Record<string, Layer>>;

/** The handlers of the routes that let apps in. */
export function oauthHandlers(parts: OAuthParts): OpenHandlers<"oauth" | "consent"> {
  const { domain, accounts, address, grants } = parts;
  const { config, now } = domain;
  const { webUrl } = config;
  const clients = clientsOf(parts);
  const tickets = new Tickets(domain.sealer("oauth question"), now);
  const issuing = {
    address,
    accounts,
    grants,
    tokens: domain.sealer(TOKEN_PURPOSE),
    needsCredential: domain.cipher.needsCredential,
    activity: domain.activity,
    now,
  };
  const admit = admission(parts);
  return {
    "GET /.well-known/oauth-protected-resource/api/mcp/connect": async (call) => {
      await admit("reads", call);
      return { status: 200, body: resourceMetadata(address, call.context) };
    },
    "GET /.well-known/oauth-authorization-server/oauth": async (call) => {
      await admit("reads", call);
      return { status: 200, body: serverMetadata(address, clients.readsDocuments) };
    },
    "GET /oauth/authorize": async (call) => {
      await admit("asks", call);
      return await authorize({ address, clients, tickets, webUrl }, call.context);
    },
    "POST /oauth/register": async (call) => {
      await admit("registers", call);
      const asked = parseBody(OAUTH["POST /oauth/register"].body, await call.body());
      return { status: 201, body: registered(clients.register(asked), now()) };
    },
    "POST /oauth/token": async (call) => {
      await admit("tokens", call);
      const form = parseBody(OAUTH["POST /oauth/token"].body, await call.body());
      await grants.fresh();
      try {
        return { status: 200, body: await answerToken(issuing, form, call.context) };
      } finally {
        // A refusal may have ended what it was about.
        await grants.kept();
      }
    },
    "POST /oauth/revoke": async (call) => {
      await admit("tokens", call);
      const form = parseBody(OAUTH["POST /oauth/revoke"].body, await call.body());
      await grants.fresh();
      revoke(issuing, form);
      await grants.kept();
      return new Response(null);
    },
    ...consentHandlers(
      { address, accounts, tickets, grants, webUrl },
      (call) => admit("decides", call),
    ),
  };
}

function clientsOf({ domain, network }: OAuthParts): OAuthClients {
  const { config, now, sealer, logger } = domain;
  const onRefused = (host: string, reason: string) =>
    logger.info("client_document_refused", { host, reason });
  const documents = config.clientMetadata
    ? new ClientDocuments(now, network, { onRefused })
    : undefined;
  return new OAuthClients(sealer("oauth client"), documents);
}

/** Refuses who asks too often, and what others on the network would read. */
function admission({ domain: { config }, address, limiter }: OAuthParts) {
  return async (what: keyof typeof LAYERS, { context }: OpenCall): Promise<void> => {
    if (!config.rateLimit.disabled) {
      await limiter.spend([{ layer: LAYERS[what], key: limitKey(context.clientIp) }], 1);
    }
    // Codes and tokens are as good as keys; what is public may be read by anybody.
    if (what === "reads" || config.allowKeyOverHttp || !address.isExposed(context)) return;
    throw new SvcError("key_over_plain_http");
  };
}

function registered(
  { clientId, name, redirectUris }: OAuthClient,
  now: number,
): AnswerOf<"POST /oauth/register"> {
  return {
    client_id: clientId,
    client_id_issued_at: Math.floor(now / 1000),
    ...(name === undefined ? {} : { client_name: name }),
    redirect_uris: [...redirectUris],
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
  };
}
