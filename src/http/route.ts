import type { DelegateKey } from "../interfaces/mod.ts";
import type { Kept } from "../jobs/replay.ts";
import type { Caller } from "../memory/caller.ts";
import type { Domain } from "../memory/domain.ts";
import type { Received } from "../wire/routes.ts";
import type { Access, NamesOf, RouteName, SignedName, StatusAndBody } from "../wire/route_types.ts";
import type { RequestContext } from "./request.ts";
import type { OpenedToken, SignedRequest } from "./session_tokens.ts";

/** What a handler returns: status and body as the table says, or a `Response` that is no JSON. */
export type Answer<N extends RouteName> = N extends RouteName
  ? [StatusAndBody<N>] extends [never] ? Response : StatusAndBody<N>
  : never;

/** What the handler of a signed route is given. */
export interface Call<N extends SignedName> {
  readonly caller: Caller;
  /** As far as its token lets it, where one stood for it. */
  readonly key: DelegateKey;
  /** What stood for the signature; absent where there was one. */
  readonly token: OpenedToken | undefined;
  readonly body: Received<N, "body">;
  /** The path's parameter: a UUID; empty where the path has none. */
  readonly id: string;
  readonly query: Received<N, "query">;
  /**
   * The request as it was signed.
   *
   * @throws {SvcError} `auth_headers_missing` where nothing was.
   */
  signed(): SignedRequest;
  /** Charges for bytes of a body, or of an answer that is no JSON. */
  spend(bytes: number): void;
  /** Whether an origin is one of the relayer's. */
  readonly isOwnOrigin: (origin: string) => boolean;
  /** Address of the MCP routes, `{base_url}/api/mcp`. */
  readonly mcp: string;
  /**
   * An answer with what makes it the one that replays get; to be part of the commit that accepts the
   * request. A route that has no commit of its own need not call it.
   */
  keep(answer: Answer<N>): Kept<Answer<N>>;
}

/** Answers a signed request that has passed every check. */
export type SignedHandler<N extends SignedName> = (
  domain: Domain,
  call: Call<N>,
) => Answer<N> | Promise<Answer<N>>;

export type SignedHandlers = { readonly [N in SignedName]: SignedHandler<N> };

/** What the handler of a route is given that is not signed. */
export interface OpenCall {
  readonly context: RequestContext;
  /** The path's parameter as sent; empty where the path has none. */
  readonly id: string;
  /** Reads the body as JSON, of at most as many bytes as the table allows. */
  readonly body: () => Promise<unknown>;
}

/** Answers a request that is not signed. */
export type OpenHandler<N extends RouteName = RouteName> = (
  call: OpenCall,
) => Answer<N> | Promise<Answer<N>>;

/** The handler of each route that is called in one of these ways. */
export type OpenHandlers<A extends Exclude<Access, "signed">> = {
  readonly [N in NamesOf<A>]: OpenHandler<N>;
};
