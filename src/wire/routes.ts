import type { ErrorCode } from "../errors.ts";
import type { Route } from "./route.ts";
import type { Access, NamesOf, RouteName } from "./route_types.ts";
import { ACCOUNT } from "./table/account.ts";
import { MCP } from "./table/mcp.ts";
import { MEMORIES } from "./table/memories.ts";
import { CONSENT } from "./table/consent.ts";
import { OAUTH } from "./table/oauth.ts";
import { OWNER } from "./table/owner.ts";
import { RECALL } from "./table/recall.ts";
import { PUBLIC } from "./table/public.ts";
import { REMEMBER } from "./table/remember.ts";
import { PORTABLE } from "./table/portable.ts";
import { REVIEW } from "./table/review.ts";
import { SESSION_TOKEN } from "./table/session_token.ts";
import { SPONSOR } from "./table/sponsor.ts";

/**
 * Every route of the program by its name. What is asked, answered, checked, charged for and described
 * comes from here.
 */
export const ROUTES = {
  ...REMEMBER,
  ...RECALL,
  ...MEMORIES,
  ...REVIEW,
  ...ACCOUNT,
  ...PORTABLE,
  ...SESSION_TOKEN,
  ...PUBLIC,
  ...SPONSOR,
  ...OWNER,
  ...OAUTH,
  ...CONSENT,
  ...MCP,
};

/** The checked body or query of a request, as a handler gets it. */
export type Received<N extends RouteName, M extends "body" | "query"> = (typeof ROUTES)[N] extends
  { readonly [K in M]: { readonly _output: infer T } } ? T : undefined;

/** A row of the table, without what is particular to it. */
export function rowOf(name: RouteName): Route {
  return ROUTES[name];
}

/** Names of the routes, all of them or those that are called in one way. */
export function routeNames(): RouteName[];
export function routeNames<A extends Access>(access: A): NamesOf<A>[];
export function routeNames(access?: Access): RouteName[] {
  const names = Object.keys(ROUTES) as RouteName[];
  return access === undefined ? names : names.filter((name) => ROUTES[name].access === access);
}

/** A signed route's name, whatever its parameter is called; `undefined` when there is none. */
export function signedRouteName(route: string): NamesOf<"signed"> | undefined {
  const name = route.replace(/:\w+/, ":id");
  return routeNames("signed").find((known) => known === name);
}

const EVERYWHERE: readonly ErrorCode[] = [
  "host_not_allowed",
  "not_found",
  "method_not_allowed",
  "headers_too_large",
  "internal_error",
  "shutting_down",
];
/** Of reading a body, whoever sent it. */
const BODY: readonly ErrorCode[] = ["body_too_large", "request_timeout", "overloaded"];
const JSON_BODY: readonly ErrorCode[] = [
  "unsupported_media_type",
  "malformed_json",
  "invalid_request",
];
const CREDENTIALS: readonly ErrorCode[] = [
  "auth_headers_missing",
  "auth_header_invalid",
  "account_not_authorized",
  "key_over_plain_http",
  "rate_limited",
  "chain_unavailable",
];
/** Of tokens, which the MCP routes take; from inside of the program signed routes do, too. */
const TOKENS: readonly ErrorCode[] = ["token_expired", "token_revoked", "audience_mismatch"];
const BY_ACCESS: Readonly<Record<Access, readonly ErrorCode[]>> = {
  public: [],
  signed: [
    ...BODY,
    ...CREDENTIALS,
    ...TOKENS,
    "nonce_invalid",
    "upgrade_required",
    "unsigned_query",
    "timestamp_out_of_range",
    "signature_invalid",
    "nonce_reused",
    "storage_unavailable",
  ],
  owner: ["origin_not_allowed", "rate_limited", "storage_unavailable"],
  sponsor: ["rate_limited", "sponsor_disabled", "sponsor_upstream_error", "sidecar_unavailable"],
  oauth: ["key_over_plain_http"],
  consent: ["origin_not_allowed", "rate_limited", "key_over_plain_http", "storage_unavailable"],
  mcp: [...CREDENTIALS, ...TOKENS, "origin_not_allowed", "sidecar_unavailable"],
};

/** Codes of the errors a route answers with: those of every route, of its kind, and its own. */
export function errorsOf(name: RouteName): ErrorCode[] {
  const row = rowOf(name);
  const codes = [...EVERYWHERE, ...BY_ACCESS[row.access], ...row.errors];
  if (row.body !== undefined) codes.push(...BODY, ...JSON_BODY);
  if (row.permissions !== undefined) codes.push("permission_denied");
  if (row.idempotent) codes.push("invalid_idempotency_key", "idempotency_conflict");
  if (row.idempotent || row.writes) codes.push("idempotency_in_progress");
  return [...new Set(codes)];
}
