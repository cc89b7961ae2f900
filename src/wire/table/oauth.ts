import { z } from "zod";
import { count, text } from "../answer_members.ts";
import { PERMISSIONS } from "../keys.ts";
import { OAUTH_TOKEN_SECONDS, PUBLIC_BODY_BYTES } from "../limits.ts";
import type { RouteRows } from "../route.ts";

const OPEN = { access: "oauth", bodyBytes: PUBLIC_BODY_BYTES } as const;

/** A member of a form; of OAuth, members that are not known are passed over. */
const field = (description: string) => z.string().optional().describe(description);

/** Where a client asks a browser to go (RFC 6749 4.1.1, RFC 7636 4.3, RFC 8707 2). */
const authorizationQuery = z.object({
  response_type: field("`code`"),
  client_id: field("Id that the app registered, or the address of its document"),
  redirect_uri: field("Where the answer goes: one of the app's"),
  code_challenge: field("SHA-256 of the app's secret, in base64url"),
  code_challenge_method: field("`S256`"),
  scope: field("What is asked for: `read`, `write`, `manage`, apart by blanks"),
  state: field("Comes back with the answer"),
  resource: field("Address of the MCP endpoint"),
});

const tokenForm = z.object({
  grant_type: field("`authorization_code` or `refresh_token`"),
  client_id: field("Id of the app"),
  code: field("The code"),
  redirect_uri: field("Where the code was sent"),
  code_verifier: field("The app's secret"),
  refresh_token: field("The newest refresh token"),
  scope: field("Less than was granted; all of it when absent"),
  resource: field("Address of the MCP endpoint"),
}).meta({ examples: [{ grant_type: "authorization_code", client_id: "svcapp.AYm…" }] });

const registration = () =>
  z.looseObject({
    redirect_uris: z.unknown().optional().meta({ examples: [["http://127.0.0.1/callback"]] }),
    client_name: z.unknown().optional().meta({ examples: ["Example"] }),
    grant_types: z.unknown().optional().meta({ examples: [["authorization_code"]] }),
  });

const texts = (description: string, example: readonly string[]) =>
  z.array(z.string()).meta({ description, examples: [example] });

const BASE = "http://localhost:8000";

/** How apps are let in by the address alone: OAuth 2.1 as MCP has it. */
export const OAUTH = {
  "GET /.well-known/oauth-protected-resource/api/mcp/connect": {
    ...OPEN,
    summary: "Who lets apps in to the MCP endpoint",
    answers: () => ({
      200: z.strictObject({
        resource: text("Address of the MCP endpoint", `${BASE}/api/mcp/connect`),
        authorization_servers: texts("Who issues tokens for it", [`${BASE}/oauth`]),
        scopes_supported: texts("What apps may ask for", PERMISSIONS),
        bearer_methods_supported: texts("How a token is sent", ["header"]),
        resource_name: text("Name for people", "svc"),
      }),
    }),
    errors: ["rate_limited"],
  },
  "GET /.well-known/oauth-authorization-server/oauth": {
    ...OPEN,
    summary: "What the authorization server offers",
    answers: () => ({
      200: z.strictObject({
        issuer: text("Its name", `${BASE}/oauth`),
        authorization_endpoint: text("Where browsers go", `${BASE}/oauth/authorize`),
        token_endpoint: text("Where codes become tokens", `${BASE}/oauth/token`),
        registration_endpoint: text("Where apps register", `${BASE}/oauth/register`),
        revocation_endpoint: text("Where tokens are given back", `${BASE}/oauth/revoke`),
        scopes_supported: texts("What apps may ask for", PERMISSIONS),
        response_types_supported: texts("What browsers bring back", ["code"]),
        grant_types_supported: texts("For what there are tokens", [
          "authorization_code",
          "refresh_token",
        ]),
        token_endpoint_auth_methods_supported: texts("How apps prove themselves", ["none"]),
        revocation_endpoint_auth_methods_supported: texts("The same, there", ["none"]),
        code_challenge_methods_supported: texts("Methods of PKCE", ["S256"]),
        client_id_metadata_document_supported: z.boolean()
          .meta({ description: "Whether an app's id may be the address of its document" }),
        authorization_response_iss_parameter_supported: z.literal(true)
          .describe("Answers name the issuer (RFC 9207)"),
      }),
    }),
    errors: ["rate_limited"],
  },
  "GET /oauth/authorize": {
    ...OPEN,
    summary: "Brings a browser to the question whether an app is let in",
    query: authorizationQuery,
    answers: () => ({
      302: {},
      400: {
        "text/plain": text("Why nobody is asked", "This app cannot be connected.\n"),
      },
    }),
    errors: ["rate_limited", "key_over_plain_http"],
  },
  "POST /oauth/register": {
    ...OPEN,
    summary: "Register an app",
    body: registration(),
    answers: () => ({
      201: z.strictObject({
        client_id: text("Id of the app", "svcapp.AYm…"),
        client_id_issued_at: count("When, in seconds since the epoch", 1_790_000_000),
        client_name: text("Its name", "Example").optional(),
        redirect_uris: texts("Where answers may go", ["http://127.0.0.1/callback"]),
        token_endpoint_auth_method: z.literal("none"),
        grant_types: texts("What it may use", ["authorization_code", "refresh_token"]),
        response_types: texts("What it may use", ["code"]),
      }),
    }),
    errors: ["rate_limited", "key_over_plain_http"],
  },
  "POST /oauth/token": {
    ...OPEN,
    summary: "Tokens for a code or a refresh token",
    form: true,
    body: tokenForm,
    answers: () => ({
      200: z.strictObject({
        access_token: text("Bearer of the MCP endpoint", "svct1.A6EH…"),
        token_type: z.literal("Bearer"),
        expires_in: count("Seconds until it ends", OAUTH_TOKEN_SECONDS),
        refresh_token: text("For the next token, once", "svcr1.Wm2x…"),
        scope: text("What it allows", "read write"),
      }),
    }),
    errors: [
      "rate_limited",
      "key_over_plain_http",
      "chain_unavailable",
      "storage_unavailable",
    ],
  },
  "POST /oauth/revoke": {
    ...OPEN,
    summary: "End what a token stands for",
    form: true,
    body: z.object({
      token: field("An access token or a refresh token"),
      token_type_hint: field("Which of the two"),
      client_id: field("Id of the app"),
    }).meta({ examples: [{ token: "svcr1.Wm2x…" }] }),
    answers: () => ({ 200: {} }),
    errors: ["rate_limited", "key_over_plain_http", "storage_unavailable"],
  },
} as const satisfies RouteRows;
