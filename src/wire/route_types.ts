import type { ErrorCode } from "../errors.ts";
import type { McpRoutes } from "./route_types/mcp.ts";
import type { AccountRoutes } from "./route_types/account.ts";
import type { MemoryRoutes } from "./route_types/memories.ts";
import type { ConsentRoutes } from "./route_types/consent.ts";
import type { OAuthRoutes } from "./route_types/oauth.ts";
import type { OwnerRoutes } from "./route_types/owner.ts";
import type { PortableRoutes } from "./route_types/portable.ts";
import type { PublicRoutes } from "./route_types/public.ts";
import type { RecallRoutes } from "./route_types/recall.ts";
import type { RememberRoutes } from "./route_types/remember.ts";
import type { ReviewRoutes } from "./route_types/review.ts";
import type { SessionTokenRoutes } from "./route_types/session_token.ts";
import type { SponsorRoutes } from "./route_types/sponsor.ts";

/**
 * Who may call a route: anybody (`public`), a key of an account (`signed`), the owner of an account by
 * a proof of the wallet (`owner`), anybody within a budget (`sponsor`), an MCP host (`mcp`), an app that
 * wants to be let in (`oauth`), or the dashboard's page that decides about it (`consent`).
 */
export type Access = "public" | "signed" | "owner" | "sponsor" | "mcp" | "oauth" | "consent";

/**
 * What every route takes and answers, by its name. The parts are written from the table of routes:
 * a reader, and a registry of packages, sees plain types and needs no schema for them.
 */
export interface RouteTypes
  extends
    McpRoutes,
    MemoryRoutes,
    AccountRoutes,
    OAuthRoutes,
    ConsentRoutes,
    OwnerRoutes,
    PortableRoutes,
    PublicRoutes,
    RecallRoutes,
    RememberRoutes,
    ReviewRoutes,
    SessionTokenRoutes,
    SponsorRoutes {}

/** Name of a route. */
export type RouteName = keyof RouteTypes;

/** Names of the routes that are called in one way. */
export type NamesOf<A extends Access> = {
  [N in RouteName]: RouteTypes[N]["access"] extends A ? N : never;
}[RouteName];

/** Name of a route whose requests a key of an account signs, such as `POST /api/recall`. */
export type SignedName = NamesOf<"signed">;

/** The body or query of a request, as a client sends it. */
export type Sent<N extends RouteName, M extends "body" | "query" = "body"> = RouteTypes[N] extends
  { readonly [K in M]: infer T } ? T : undefined;

/** A successful answer of a route: its status and the JSON that belongs to it. */
export type StatusAndBody<N extends RouteName> = N extends RouteName
  ? RouteTypes[N] extends { readonly answers: infer A }
    ? { [S in keyof A]: { readonly status: S; readonly body: A[S] } }[keyof A]
  : never
  : never;

/** The JSON of an answer of a route, whatever the status. */
export type AnswerOf<N extends RouteName> = StatusAndBody<N>["body"];

/** The body of every error outside of MCP. */
export interface ErrorBody {
  /** Text for people; may change. */
  readonly error: string;
  /** Stable name. */
  readonly code: ErrorCode;
  /** Id of the request, as in the header. */
  readonly request_id: string;
  /** Path of the member at fault, such as `items[3].text`. */
  readonly field?: string | undefined;
  /** The limit that was met. */
  readonly layer?: string | undefined;
  /** What that limit allows. */
  readonly limit?: string | undefined;
  /** Kind of the secret that was found. */
  readonly kind?: string | undefined;
  /** Characters before the secret. */
  readonly offset?: number | undefined;
  /** Characters of the secret. */
  readonly length?: number | undefined;
  /** Whole seconds to wait. */
  readonly retry_after_seconds?: number | undefined;
}
