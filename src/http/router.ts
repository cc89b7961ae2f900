import { Hono } from "hono";
import { errorResponse, SvcError } from "../errors.ts";
import type { Logger } from "../log.ts";
import type { Domain } from "../memory/domain.ts";
import { HEADER } from "../wire/headers.ts";
import { jsonRpcErrorResponse } from "../wire/json_rpc_error.ts";
import {
  COMPAT_SUI_BODY_BYTES,
  HEADER_BLOCK_BYTES,
  PUBLIC_BODY_BYTES,
  SPONSOR_BODY_BYTES,
  SPONSOR_EXECUTE_BODY_BYTES,
} from "../wire/limits.ts";
import { BodyReader } from "./body.ts";
import { clientIp } from "./client_ip.ts";
import { addCors, preflight } from "./cors.ts";
import type { Health } from "./health.ts";
import { checkJsonHeaders, parseJson } from "./json.ts";
import { isMcpPath, MCP_ROUTES, type McpProxy } from "./mcp_proxy.ts";
import { gaugeLines, type HttpMetrics, methodLabel } from "./metrics.ts";
import { openApi } from "./openapi.ts";
import { type RequestContext, requestIdOf } from "./request_context.ts";
import type { SignedRoute } from "./route.ts";
import { analyzeRoutes } from "./routes/analyze.ts";
import { manageRoutes } from "./routes/manage.ts";
import { answerCompatSui } from "./routes/compat_sui.ts";
import { OwnerRoutes } from "./routes/owner.ts";
import { checkMetricsAccess, configBody, healthAnswer, versionBody } from "./routes/public.ts";
import { recallRoutes } from "./routes/recall.ts";
import { rememberRoutes } from "./routes/remember.ts";
import { limitHeaders, type SignedDependencies, SignedRoutes } from "./signed.ts";
import { targetOf } from "./target.ts";

/** Every signed route. */
export const SIGNED_ROUTES: readonly SignedRoute[] = [
  ...rememberRoutes,
  ...recallRoutes,
  ...analyzeRoutes,
  ...manageRoutes,
];

/** A request of one of the sponsor routes. */
export interface SponsorCall {
  /** Address of the client. */
  readonly clientIp: string;
  /** Reads the body as JSON; called once the client may ask at all. */
  readonly body: () => Promise<unknown>;
}

/** The sponsor routes, and the most bytes of a body. */
const SPONSOR_ROUTES = [
  { path: "/sponsor", action: "sponsor", bodyBytes: SPONSOR_BODY_BYTES },
  { path: "/sponsor/execute", action: "execute", bodyBytes: SPONSOR_EXECUTE_BODY_BYTES },
] as const;

/** What answers the sponsor routes. */
export type SponsorRoutes = {
  readonly [A in typeof SPONSOR_ROUTES[number]["action"]]: (call: SponsorCall) => Promise<object>;
};

/** What the router is made of. */
export interface RouterDependencies extends SignedDependencies {
  /** Counts. */
  readonly metrics: HttpMetrics;
  /** States of dependencies. */
  readonly health: Health;
  /** The way to the sidecar. */
  readonly mcp: McpProxy;
  /** The routes of docs/protocol.md#9.1; `undefined` where nobody pays. */
  readonly sponsor: SponsorRoutes | undefined;
  /** Where failures are noted. */
  readonly logger: Logger;
  /** Whether new requests are refused. */
  readonly closing: () => boolean;
}

interface Bindings {
  readonly Bindings: RequestContext;
}

/** What proxies note for a client that did not wait; nobody gets it. */
const CLIENT_LEFT = 499;

/** Whether work ended because its client has left: no failure of anything here. */
function hasLeft({ signal }: Request, thrown: unknown): boolean {
  if (!signal.aborted) return false;
  let error = thrown;
  while (error instanceof Error && error !== signal.reason) error = error.cause;
  return error === signal.reason;
}

function json(status: number, body: unknown): Response {
  return Response.json(body, { status });
}

function headerBytes(headers: Headers): number {
  let bytes = 0;
  for (const [name, value] of headers) bytes += name.length + value.length + 4;
  return bytes;
}

/** Answers a request; `id` is empty where the path has none. */
type Handle = (context: RequestContext, id: string) => Response | Promise<Response>;

/** Answers every request of the relayer. */
export class Router {
  readonly #deps: RouterDependencies;
  readonly #app: Hono<Bindings>;
  /** Handlers of paths without ids, by method and path: what is asked most needs no matching. */
  readonly #fixed = new Map<string, Handle>();
  /** Methods by path pattern, for 405. */
  readonly #methods = new Map<string, string[]>();
  readonly #publicBodies: BodyReader;
  readonly #signedRoutes: readonly SignedRoute[];

  /** Knows its routes from then on; `signedRoutes` are those behind the checks of a signature. */
  constructor(deps: RouterDependencies, signedRoutes: readonly SignedRoute[] = SIGNED_ROUTES) {
    this.#deps = deps;
    this.#signedRoutes = signedRoutes;
    const { config } = deps.domain;
    this.#publicBodies = new BodyReader(config.unverifiedBodyBytes, config.bodyTimeoutMs);
    // The raw path: Hono's own would decode it.
    this.#app = new Hono<Bindings>({
      getPath: (_request, options) => options?.env?.target.path ?? "/",
    });
    this.#register();
  }

  /** Answers one request. */
  async fetch(request: Request, peer: string): Promise<Response> {
    const { metrics, domain, logger } = this.#deps;
    const started = performance.now();
    const requestId = requestIdOf(request.headers);
    const origin = request.headers.get("origin");
    metrics.inFlight++;
    let response: Response;
    let route = "none";
    let path = "";
    try {
      const context: RequestContext = {
        request,
        target: targetOf(request),
        requestId,
        peer,
        clientIp: clientIp(
          peer,
          request.headers.get("x-forwarded-for"),
          domain.config.trustedProxies,
        ),
      };
      path = context.target.path;
      route = this.#patternOf(path) ?? "none";
      if (this.#deps.closing()) throw new SvcError("shutting_down");
      if (headerBytes(request.headers) > HEADER_BLOCK_BYTES) {
        throw new SvcError("headers_too_large");
      }
      const handle = this.#fixed.get(`${request.method} ${path}`);
      response = request.method === "OPTIONS" && route !== "none"
        ? preflight(origin, domain.config.allowedOrigins)
        : await (handle?.(context, "") ?? this.#app.fetch(request, context));
    } catch (thrown) {
      response = hasLeft(request, thrown)
        ? new Response(null, { status: CLIENT_LEFT })
        : this.#refuse(thrown, requestId, route, isMcpPath(path));
    }
    if (!request.bodyUsed) await request.body?.cancel().catch(() => {});
    metrics.inFlight--;
    const seconds = (performance.now() - started) / 1000;
    const method = methodLabel(request.method);
    metrics.requests.add({ route, method, status: String(response.status) });
    metrics.durations.observe({ route }, seconds);
    response.headers.set(HEADER.requestId, requestId);
    addCors(response.headers, origin, domain.config.allowedOrigins);
    logger.debug("request", {
      request_id: requestId,
      method,
      route,
      status: response.status,
      ms: Math.round(seconds * 1000),
    });
    return response;
  }

  #refuse(thrown: unknown, requestId: string, route: string, isMcp: boolean): Response {
    const error = SvcError.from(thrown);
    const { metrics, logger } = this.#deps;
    metrics.errors.add({ code: error.code });
    if (error.code === "rate_limited") {
      metrics.denials.add({ layer: String(error.extra?.layer ?? "none") });
    }
    if (error.status >= 500) {
      // The cause's name only: its message may quote what a caller sent.
      const reason = error.cause instanceof Error ? error.cause.name : error.code;
      logger.error("request_failed", { request_id: requestId, route, code: error.code, reason });
    }
    const response = (isMcp ? jsonRpcErrorResponse : errorResponse)(error, requestId);
    for (const [name, value] of Object.entries(limitHeaders(error))) {
      response.headers.set(name, value);
    }
    return response;
  }

  #register(): void {
    const signed = new SignedRoutes(this.#deps);
    for (const route of this.#signedRoutes) {
      this.#on(route.method, route.path, (context, id) => signed.answer(route, id, context));
    }
    const { domain, health } = this.#deps;
    const { config } = domain;
    this.#on("GET", "/health", async () => {
      const { status, body } = healthAnswer(config, await health.dependencies());
      return json(status, body);
    });
    this.#on("GET", "/version", () => json(200, versionBody(config)));
    this.#on("GET", "/config", (context) => json(200, configBody(domain, context)));
    const description = openApi(this.#signedRoutes, config.version);
    this.#on("GET", "/openapi.json", () => json(200, description));
    this.#on("GET", "/metrics", async (context) => {
      checkMetricsAccess(config, context);
      const text = await this.#metricsText();
      return new Response(text, { headers: { "content-type": "text/plain; version=0.0.4" } });
    });
    this.#on("POST", "/compat/sui", async (context) => {
      const body = await this.#publicJson(context, COMPAT_SUI_BODY_BYTES);
      return json(200, answerCompatSui(body, config.packageId ?? ""));
    });
    for (const [method, path] of MCP_ROUTES) {
      this.#on(method, path, (context) => {
        // A HEAD would open a stream that nobody reads.
        if (context.request.method !== method) throw notAllowed(this.#methods.get(path) ?? []);
        return this.#deps.mcp.answer(context);
      });
    }
    this.#registerSponsor();
    if (domain.accounts.admin !== undefined) this.#registerOwner(domain);
    for (const [path, methods] of this.#methods) {
      this.#app.all(path, () => {
        throw notAllowed(methods);
      });
    }
    this.#app.notFound(() => {
      throw new SvcError("not_found");
    });
    this.#app.onError((error) => {
      throw error;
    });
  }

  #registerOwner({ accounts, config, now }: Domain): void {
    if (accounts.admin === undefined) return;
    const owner = new OwnerRoutes(accounts.admin, config, now);
    const suffixes = [
      "",
      "/challenge",
      "/open",
      "/:id/keys",
      "/:id/keys/remove",
      "/:id/deactivate",
      "/:id/reactivate",
    ];
    for (const suffix of suffixes) {
      this.#on("POST", `/accounts${suffix}`, async (context) => {
        const rest = context.target.path.slice("/accounts".length);
        const body = await this.#publicJson(context, PUBLIC_BODY_BYTES);
        const { status, body: answer } = await owner.answer(rest, body, context);
        return json(status, answer);
      });
    }
  }

  #registerSponsor(): void {
    const { sponsor } = this.#deps;
    for (const { path, action, bodyBytes } of SPONSOR_ROUTES) {
      this.#on("POST", path, async (context) => {
        if (sponsor === undefined) throw new SvcError("sponsor_disabled");
        const body = () => this.#publicJson(context, bodyBytes);
        return json(200, await sponsor[action]({ clientIp: context.clientIp, body }));
      });
    }
  }

  #on(method: string, path: string, handle: Handle): void {
    this.#methods.set(path, [...this.#methods.get(path) ?? [], method]);
    if (!path.includes(":")) this.#fixed.set(`${method} ${path}`, handle);
    this.#app.on(method, path, (c) => {
      const id = c.req.param("id") ?? "";
      // Fixed paths are no ids: another method of theirs is meant.
      const fixed = this.#methods.get(c.env.target.path);
      if (fixed !== undefined && !fixed.includes(method)) throw notAllowed(fixed);
      return handle(c.env, id);
    });
  }

  async #publicJson(context: RequestContext, limit: number): Promise<unknown> {
    const { request } = context;
    if (Number(request.headers.get("content-length") ?? 0) > limit) {
      throw new SvcError("body_too_large");
    }
    const body = await this.#publicBodies.read(request, limit);
    checkJsonHeaders(request.headers);
    return parseJson(body);
  }

  /** The pattern a path belongs to: a label from a closed set. */
  #patternOf(path: string): string | undefined {
    if (this.#methods.has(path)) return path;
    const parts = path.split("/");
    for (const pattern of this.#methods.keys()) {
      const wanted = pattern.split("/");
      if (
        wanted.length === parts.length &&
        wanted.every((part, i) => part === parts[i] || (part === ":id" && parts[i] !== ""))
      ) return pattern;
    }
    return undefined;
  }

  async #metricsText(): Promise<string> {
    const { metrics, domain, accounts, mcp } = this.#deps;
    // A sidecar that does not answer leaves a gap: nobody knows how many sessions it has.
    const sessions = Object.entries(await mcp.sessions() ?? {});
    const { pending, running } = domain.jobs.counts();
    const oldest = domain.jobs.oldest;
    const age = oldest === undefined ? 0 : Math.max(0, (domain.now() - oldest) / 1000);
    const { hit, miss, stale } = accounts.counts;
    return [
      ...metrics.requests.lines(),
      ...metrics.durations.lines(),
      ...gaugeLines("svc_http_requests_in_flight", "Requests being answered", "gauge", [
        { labels: {}, value: metrics.inFlight },
      ]),
      ...metrics.errors.lines(),
      ...metrics.denials.lines(),
      ...metrics.sidecarFailures.lines(),
      ...gaugeLines("svc_jobs", "Unfinished jobs by state", "gauge", [
        { labels: { state: "pending" }, value: pending },
        { labels: { state: "running" }, value: running },
      ]),
      ...gaugeLines("svc_job_oldest_seconds", "Age of the oldest unfinished job", "gauge", [
        { labels: {}, value: age },
      ]),
      ...metrics.jobs.lines(),
      ...gaugeLines("svc_account_cache_total", "Account look-ups", "counter", [
        { labels: { result: "hit" }, value: hit },
        { labels: { result: "miss" }, value: miss },
        { labels: { result: "stale" }, value: stale },
      ]),
      ...gaugeLines(
        "svc_mcp_sessions",
        "Open MCP sessions by transport",
        "gauge",
        sessions.map(([transport, value]) => ({ labels: { transport }, value })),
      ),
      "",
    ].join("\n");
  }
}

function notAllowed(methods: readonly string[]): SvcError {
  return new SvcError("method_not_allowed", undefined, { headers: { allow: methods.join(", ") } });
}
