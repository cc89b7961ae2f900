import { errorResponse, SvcError } from "../errors.ts";
import { BodyReader } from "./body_reader.ts";
import {
  checkTypeHeaders,
  clientIp,
  FORM_TYPE,
  JSON_TYPE,
  parseJson,
  type RequestContext,
  requestIdOf,
  targetOf,
} from "./request.ts";
import type { Health } from "./health.ts";
import { isMcpPath, type McpProxy } from "./mcp_proxy.ts";
import { type HttpMetrics, methodLabel } from "./metrics.ts";
import type { OpenCall, OpenHandler, OpenHandlers, SignedHandlers } from "./route.ts";
import { parseForm } from "./oauth/form.ts";
import type { AddressLimiter } from "./limits/address_limits.ts";
import { oauthHandlers } from "./oauth/handlers.ts";
import type { Grants } from "./oauth/grants.ts";
import { OAuthError } from "./oauth/oauth_error.ts";
import type { StateStore } from "../interfaces/mod.ts";
import type { PublicNetwork } from "../interfaces/public_network.ts";
import { memoryHandlers } from "./routes/memories.ts";
import { ownerHandlers } from "./routes/owner.ts";
import { publicHandlers } from "./routes/public.ts";
import { recallHandlers } from "./routes/recall.ts";
import { rememberHandlers } from "./routes/remember.ts";
import { portableHandlers } from "./routes/portable.ts";
import { reviewHandlers } from "./routes/review.ts";
import { sessionTokenHandlers } from "./routes/session_token.ts";
import { type SignedDependencies, SignedRoutes } from "./signed.ts";
import type { Logger } from "../log.ts";
import { fail, requestParent, type Span, traced } from "../tracing.ts";
import { HEADER } from "../wire/headers.ts";
import { jsonRpcErrorResponse } from "../wire/json_rpc_error.ts";
import { HEADER_BLOCK_BYTES, SIGNED_BODY_BYTES } from "../wire/limits.ts";
import { routeNames, rowOf } from "../wire/routes.ts";
import type { Access, RouteName } from "../wire/route_types.ts";

const METHODS = "GET, POST, PUT, DELETE, OPTIONS";
const ALLOWED = [
  "content-type",
  "authorization",
  "idempotency-key",
  "last-event-id",
  "mcp-session-id",
  "mcp-protocol-version",
  "mcp-method",
  "mcp-name",
  "x-public-key",
  "x-signature",
  "x-timestamp",
  "x-nonce",
  "x-audience",
  "x-account-id",
  "x-delegate-key",
  "x-seal-session",
  "x-request-id",
  "x-correlation-id",
  "x-svc-account-id",
  "x-svc-namespace",
  "x-memwal-account-id",
  "x-memwal-namespace",
].join(", ");
const EXPOSED = "x-request-id, ratelimit, ratelimit-policy, retry-after, idempotency-replayed, " +
  "mcp-session-id, www-authenticate";

/**
 * Adds CORS headers for an allowed origin.
 *
 * @param allowed Origins; `*` for what holds nothing of who asks.
 */
function addCors(headers: Headers, origin: string | null, allowed: readonly string[] | "*"): void {
  if (origin === null) return;
  headers.append("vary", "origin");
  if (!allowed.includes(origin) && allowed !== "*") return;
  headers.set("access-control-allow-origin", allowed === "*" ? "*" : origin);
  headers.set("access-control-expose-headers", EXPOSED);
}

/** Answers a preflight; an origin that is not allowed gets no CORS headers. */
export function preflight(origin: string | null, allowed: readonly string[] | "*"): Response {
  const headers = new Headers();
  addCors(headers, origin, allowed);
  if (headers.has("access-control-allow-origin")) {
    headers.set("access-control-allow-methods", METHODS);
    headers.set("access-control-allow-headers", ALLOWED);
    headers.set("access-control-max-age", "600");
  }
  return new Response(null, { status: 204, headers });
}

const SIGNED_HANDLERS: SignedHandlers = {
  ...rememberHandlers,
  ...recallHandlers,
  ...memoryHandlers,
  ...reviewHandlers,
  ...portableHandlers,
  ...sessionTokenHandlers,
};

interface RouterDependencies extends SignedDependencies {
  readonly metrics: HttpMetrics;
  readonly health: Health;
  readonly mcp: McpProxy;
  /** What relayers share; `undefined` where this one shares nothing. */
  readonly store: Pick<StateStore, "connections"> | undefined;
  /** What answers where transactions are paid for; `undefined` where nobody pays. */
  readonly sponsor: OpenHandlers<"sponsor"> | undefined;
  /** The apps that were let in by OAuth. */
  readonly grants: Grants;
  /** Makes limits of those who are known by their address only. */
  readonly newLimiter: () => AddressLimiter;
  /** Where documents of apps are read; the internet, when absent. */
  readonly network: PublicNetwork | undefined;
  readonly logger: Logger;
  /** Whether balancers are told to look elsewhere. */
  readonly leaving: () => boolean;
  /** Whether new requests are refused. */
  readonly closing: () => boolean;
}

/** Status that is logged for a client that left before its answer; nobody receives it. */
const CLIENT_LEFT = 499;

/** Whether work ended because its client has left: no failure of anything here. */
function hasLeft({ signal }: Request, thrown: unknown): boolean {
  if (!signal.aborted) return false;
  let error = thrown;
  while (error instanceof Error && error !== signal.reason) error = error.cause;
  return error === signal.reason;
}

function headerBytes(headers: Headers): number {
  let bytes = 0;
  headers.forEach((value, name) => bytes += name.length + value.length + 4);
  return bytes;
}

/** A request as a listener got it. */
interface Asked {
  readonly request: Request;
  readonly peer: string;
  readonly target: string | undefined;
  readonly isInternal: boolean;
}

/** What is noted of an answer. */
interface Answered {
  readonly requestId: string;
  readonly method: string;
  readonly route: string;
  readonly seconds: number;
}

/** Answers a request; `id` is empty where the path has none. */
type Handle = (id: string, context: RequestContext) => Promise<Response>;

/** How often a line of the log tells of refused overload at most, milliseconds. */
const OVERLOAD_LINE_MS = 60_000;

/** A path of the table and what answers its methods. */
interface Place {
  /** As the table has it. */
  readonly pattern: string;
  /** Who may call it. */
  readonly access: Access;
  readonly parts: readonly string[];
  /** Which part is the parameter; -1 where none is. */
  readonly idAt: number;
  readonly methods: Map<string, Handle>;
}

export class Router {
  readonly #deps: RouterDependencies;
  /** Paths without a parameter. */
  readonly #fixed = new Map<string, Place>();
  /** The others, by their patterns. */
  readonly #patterns = new Map<string, Place>();
  readonly #publicBodies: BodyReader;
  /** Requests that were refused because too much waits, and that no line of the log told of. */
  #overloads = 0;
  /** When a line may tell of them, by the clock of `performance.now()`. */
  #nextOverloadLine = 0;

  /** Registers the routes; `handlers` answer the signed ones. */
  constructor(deps: RouterDependencies, handlers: Partial<SignedHandlers> = SIGNED_HANDLERS) {
    this.#deps = deps;
    const { config } = deps.domain;
    this.#publicBodies = new BodyReader(config.unverifiedBodyBytes, config.bodyTimeoutMs);
    const signed = new SignedRoutes(deps);
    for (const name of routeNames("signed")) {
      const handle = handlers[name];
      if (handle !== undefined) this.#on(name, signed.route(name, handle));
    }
    this.#registerOpen();
  }

  /** @param target as it came, where the listener tells it. */
  fetch(request: Request, peer: string, target?: string, isInternal = false): Promise<Response> {
    const options = { kind: "server", parent: requestParent(request.headers) } as const;
    const asked = { request, peer, target, isInternal };
    return traced("request", options, (span) => this.#answer(asked, span));
  }

  async #answer({ request, peer, target, isInternal }: Asked, span?: Span): Promise<Response> {
    const { metrics, domain } = this.#deps;
    const { trustedProxies, allowedOrigins } = domain.config;
    const started = performance.now();
    const requestId = requestIdOf(request.headers);
    const origin = request.headers.get("origin");
    metrics.inFlight++;
    let response: Response;
    let place: Place | undefined;
    let path = "";
    try {
      const found = targetOf(request, target);
      path = found.path;
      const forwarded = request.headers.get("x-forwarded-for");
      const client = clientIp(peer, forwarded, trustedProxies);
      place = this.#placeOf(path);
      if (this.#deps.closing()) throw new SvcError("shutting_down");
      if (headerBytes(request.headers) > HEADER_BLOCK_BYTES) {
        throw new SvcError("headers_too_large");
      }
      const context = { request, target: found, requestId, peer, clientIp: client, isInternal };
      if (place === undefined) throw new SvcError("not_found");
      response = request.method === "OPTIONS"
        ? preflight(origin, originsOf(place, allowedOrigins))
        : await answerAt(place, context);
    } catch (thrown) {
      response = hasLeft(request, thrown)
        ? new Response(null, { status: CLIENT_LEFT })
        : this.#refuse(thrown, requestId, place?.pattern ?? "none", isMcpPath(path));
    }
    if (!request.bodyUsed) await request.body?.cancel().catch(() => {});
    metrics.inFlight--;
    response.headers.set(HEADER.requestId, requestId);
    addCors(response.headers, origin, originsOf(place, allowedOrigins));
    const route = place?.pattern ?? "none";
    const seconds = (performance.now() - started) / 1000;
    this.#note({ requestId, method: methodLabel(request.method), route, seconds }, response, span);
    return response;
  }

  #note({ requestId, method, route, seconds }: Answered, { status }: Response, span?: Span): void {
    const { metrics, logger } = this.#deps;
    metrics.requests.add({ route, method, status: String(status) });
    metrics.durations.observe({ route }, seconds);
    const ms = Math.round(seconds * 1000);
    logger.debug("request", { request_id: requestId, method, route, status, ms });
    if (span === undefined) return;
    span.updateName(`${method} ${route}`);
    span.setAttribute("http.request.method", method);
    span.setAttribute("http.route", route);
    span.setAttribute("http.response.status_code", status);
    span.setAttribute("svc.request_id", requestId);
    if (status >= 500) fail(span, String(status));
  }

  #refuse(thrown: unknown, requestId: string, route: string, isMcp: boolean): Response {
    const error = SvcError.from(thrown);
    const { metrics, logger } = this.#deps;
    if (thrown instanceof OAuthError) {
      metrics.errors.add({ code: thrown.code });
      return thrown.response();
    }
    metrics.errors.add({ code: error.code });
    if (error.code === "rate_limited") {
      metrics.denials.add({ layer: String(error.extra?.layer ?? "none") });
    }
    if (error.code === "overloaded") this.#noteOverload(route);
    else if (error.status >= 500) {
      // The cause's name only: its message may quote what a caller sent.
      const reason = error.cause instanceof Error ? error.cause.name : error.code;
      logger.error("request_failed", { request_id: requestId, route, code: error.code, reason });
    }
    return (isMcp ? jsonRpcErrorResponse : errorResponse)(error, requestId);
  }

  /** One line a while: whoever floods must not fill the disk with lines besides. */
  #noteOverload(route: string): void {
    this.#overloads++;
    const now = performance.now();
    if (now < this.#nextOverloadLine) return;
    this.#deps.logger.warn("overloaded", { route, refused: this.#overloads });
    this.#overloads = 0;
    this.#nextOverloadLine = now + OVERLOAD_LINE_MS;
  }

  #registerOpen(): void {
    const { domain, mcp, sponsor, address, accounts, grants, network, newLimiter } = this.#deps;
    const { accounts: { admin }, activity, config, now } = domain;
    const limited = () => ({ activity, now, limiter: newLimiter() });
    const noSponsor = () => {
      throw new SvcError("sponsor_disabled");
    };
    const passOn = ({ context }: OpenCall) => mcp.answer(context);
    const handlers = {
      ...publicHandlers(this.#deps),
      ...sponsor ?? { "POST /sponsor": noSponsor, "POST /sponsor/execute": noSponsor },
      ...(admin === undefined ? {} : ownerHandlers(admin, address, config, limited())),
      "GET /api/mcp/sse": passOn,
      "POST /api/mcp/messages": passOn,
      "GET /api/mcp": passOn,
      "POST /api/mcp": passOn,
      "DELETE /api/mcp": passOn,
      "GET /api/mcp/connect": passOn,
      "POST /api/mcp/connect": passOn,
      "DELETE /api/mcp/connect": passOn,
      ...oauthHandlers({ domain, accounts, address, grants, network, limiter: newLimiter() }),
    } satisfies OpenHandlers<"public" | "sponsor" | "mcp" | "oauth" | "consent">;
    const known: { readonly [N in RouteName]?: OpenHandler } = handlers;
    for (const name of routeNames()) {
      const handle = known[name];
      if (handle === undefined) continue;
      const { bodyBytes = SIGNED_BODY_BYTES, form, access } = rowOf(name);
      this.#on(name, async (id, context) => {
        const body = () => this.#publicBody(context, bodyBytes, form === true);
        const answer = await handle({ context, id, body });
        if (answer instanceof Response) return answer;
        const isPrivate = access === "oauth" || access === "consent";
        const headers = new Headers(isPrivate ? { "cache-control": "no-store" } : undefined);
        return Response.json(answer.body, { status: answer.status, headers });
      });
    }
  }

  #on(name: RouteName, handle: Handle): void {
    const [method = "", pattern = ""] = name.split(" ");
    const places = pattern.includes(":") ? this.#patterns : this.#fixed;
    const parts = pattern.split("/");
    const { access } = rowOf(name);
    const place = places.get(pattern) ??
      { pattern, parts, idAt: parts.indexOf(":id"), methods: new Map<string, Handle>(), access };
    place.methods.set(method, handle);
    places.set(pattern, place);
  }

  /** The entry of a path; a fixed path comes before one with a parameter. */
  #placeOf(path: string): Place | undefined {
    const fixed = this.#fixed.get(path);
    if (fixed !== undefined) return fixed;
    const parts = path.split("/");
    for (const place of this.#patterns.values()) {
      if (
        place.parts.length === parts.length &&
        place.parts.every((part, i) => part === parts[i] || (part === ":id" && parts[i] !== ""))
      ) return place;
    }
    return undefined;
  }

  async #publicBody(context: RequestContext, limit: number, isForm: boolean): Promise<unknown> {
    const { request } = context;
    if (Number(request.headers.get("content-length") ?? 0) > limit) {
      throw new SvcError("body_too_large");
    }
    const body = await this.#publicBodies.read(request, limit, context.clientIp);
    checkTypeHeaders(request.headers, isForm ? FORM_TYPE : JSON_TYPE);
    return isForm ? parseForm(body) : parseJson(body);
  }
}

/** Origins whose pages may read the answers of a place. */
function originsOf(
  place: Place | undefined,
  allowed: readonly string[],
): readonly string[] | "*" {
  // Apps in browsers are of any origin, and nothing in a browser signs them in.
  return place?.access === "oauth" ? "*" : allowed;
}

/** What answers a request of a path; the answer to HEAD is that to GET, without its body. */
function answerAt({ methods, idAt, pattern }: Place, context: RequestContext): Promise<Response> {
  const { request: { method }, target: { path } } = context;
  // Of MCP it would open a stream that nobody reads.
  const isHead = method === "HEAD" && !isMcpPath(pattern);
  const handle = methods.get(isHead ? "GET" : method);
  if (handle === undefined) {
    const headers = { allow: [...methods.keys()].join(", ") };
    throw new SvcError("method_not_allowed", undefined, { headers });
  }
  const answer = handle(idAt < 0 ? "" : path.split("/")[idAt] ?? "", context);
  return isHead ? answer.then((response) => new Response(null, response)) : answer;
}
