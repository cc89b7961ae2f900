import type { RelayerConfig } from "../interfaces/config.ts";
import { SvcError } from "../errors.ts";
import type { ConnectionPool, PooledAnswer, WireRequest } from "../http1/http_connection.ts";
import { fetchOver } from "../http1/loopback_fetch.ts";
import { StreamedResponse } from "../http1/send_answer.ts";
import { gather } from "../wire/body/read_body.ts";
import { HEADER } from "../wire/headers.ts";
import { SIGNED_BODY_BYTES } from "../wire/limits.ts";
import type { AccountCache } from "./account_cache.ts";
import type { BodyReader } from "./body_reader.ts";
import type { Sealer } from "../interfaces/plugin.ts";
import { TOKEN_PREFIX } from "../wire/session_token.ts";
import { AccessWatch, type WatchedStream } from "./oauth/access_watch.ts";
import type { Grants } from "./oauth/grants.ts";
import { challenge } from "./oauth/metadata.ts";
import { CONNECT_PATH, MCP_PATH, type OwnAddress } from "./own_address.ts";
import { openSessionToken } from "./session_tokens.ts";
import type { RequestContext } from "./request.ts";
import type { Counter } from "./metrics.ts";
import { type RelayedStream, relayedStream } from "./relayed_stream.ts";

/** Whether errors of a path are JSON-RPC errors. */
export function isMcpPath(path: string): boolean {
  return path === "/api/mcp" || path.startsWith("/api/mcp/");
}

/** Open MCP sessions by transport. */
interface McpSessions {
  readonly sse: number;
  readonly streamable: number;
}

interface McpProxyOptions {
  readonly config: RelayerConfig;
  readonly address: OwnAddress;
  /** Opens session tokens. */
  readonly tokens: Pick<Sealer, "open">;
  /** The apps that were let in by OAuth. */
  readonly grants: Pick<Grants, "isOpen" | "fresh">;
  /** Knows whether their keys are still listed. */
  readonly accounts: Pick<AccountCache, "authorize">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly bodies: BodyReader;
  /** Counts requests and streams that failed, by reason. */
  readonly failures: Counter;
  /** Sends a request to a sidecar that proved itself, or nowhere; absent when none is configured. */
  readonly sidecar: Pick<ConnectionPool, "send"> | undefined;
  /** Longest time a client may leave a sent piece unread, milliseconds; 30,000 by default. */
  readonly stallMs?: number;
}

const REQUEST_HEADERS: ReadonlySet<string> = new Set([
  "accept",
  "authorization",
  "content-type",
  "last-event-id",
  "mcp-method",
  "mcp-name",
  HEADER.mcpProtocolVersion,
  HEADER.mcpSessionId,
  HEADER.mcpAccountId,
  HEADER.mcpNamespace,
]);
/** Parameters of a tool that its schema mirrors into headers; the sidecar checks them (2026-07-28). */
const PARAMETER_HEADERS = "mcp-param-";
/** Names older clients use (docs/protocol.md#17.2). */
const ALIAS_HEADERS: ReadonlySet<string> = new Set(["x-memwal-account-id", "x-memwal-namespace"]);
const RESPONSE_HEADERS: readonly string[] = [
  "allow",
  "cache-control",
  "content-type",
  HEADER.mcpSessionId,
  HEADER.retryAfter,
  "www-authenticate",
];
const STALL_MS = 30_000;
/** Longest wait until the sidecar has closed a session, in milliseconds. */
const CLOSING_MS = 5_000;
/** Longest wait for the sidecar's counts of sessions, in milliseconds. */
const SESSIONS_MS = 400;
/** Largest answer that can hold them, in bytes. */
const SESSIONS_BYTES = 1024;

interface Open extends RelayedStream {
  readonly isListening: boolean;
}

/** Passes MCP requests to the sidecar and its answers back, both as they come. */
export class McpProxy implements Disposable {
  readonly #options: McpProxyOptions;
  readonly #open = new Set<Open>();
  readonly #watch = new AccessWatch();

  /** Connects at the first request. */
  constructor(options: McpProxyOptions) {
    this.#options = options;
  }

  /**
   * Answers a request of an MCP route.
   *
   * @throws {SvcError} `host_not_allowed`, `origin_not_allowed`, `key_over_plain_http`,
   * `auth_headers_missing`, `auth_header_invalid`, `token_expired`, `token_revoked`,
   * `audience_mismatch`, `unsupported_media_type`, `body_too_large`, `request_timeout`, `overloaded`, `sidecar_unavailable`.
   */
  async answer(context: RequestContext): Promise<Response> {
    const { sidecar } = this.#options;
    this.#checkSurroundings(context.request);
    this.#checkBearer(context);
    try {
      await this.#checkResource(context);
    } catch (error) {
      this.#closeSession(context, error);
      throw error;
    }
    if (sidecar === undefined) {
      throw new SvcError("sidecar_unavailable", "No sidecar is configured");
    }
    const body = await this.#readBody(context);
    const headers = this.#requestHeaders(context);
    return await this.#forward(context, { headers, body }, sidecar);
  }

  /** Asks the sidecar for its open sessions; `undefined` when there is none, or it does not tell. */
  async sessions(): Promise<McpSessions | undefined> {
    const { sidecar } = this.#options;
    if (sidecar === undefined) return undefined;
    try {
      const response = await fetchOver(sidecar)("http://127.0.0.1/health", {
        signal: AbortSignal.timeout(SESSIONS_MS),
      });
      return sessionsIn(await gather(response, SESSIONS_BYTES, () => new RangeError()));
    } catch {
      return undefined;
    }
  }

  /** Ends the streams on which clients only listen; answers under way go on. */
  closeListening(): void {
    for (const stream of this.#open) if (stream.isListening) stream.end();
  }

  [Symbol.dispose](): void {
    this.#watch[Symbol.dispose]();
    for (const stream of this.#open) stream.end();
  }

  /** Host and Origin (docs/protocol.md#11). */
  #checkSurroundings(request: Request): void {
    const { address, config } = this.#options;
    address.checkHost(request);
    const origin = request.headers.get("origin");
    if (origin === null || config.allowedOrigins.includes(origin)) return;
    if (origin !== new URL(address.base).origin) throw new SvcError("origin_not_allowed");
  }

  /** Refuses a bearer that may be a private key where others can read it on its way. */
  #checkBearer(context: RequestContext): void {
    const { address, config } = this.#options;
    const bearer = context.request.headers.get("authorization");
    if (bearer === null || config.allowKeyOverHttp || !address.isExposed(context)) return;
    if (!/^bearer +svct1\./i.test(bearer)) throw new SvcError("key_over_plain_http");
  }

  /** Each resource takes the tokens that were made for it; that of OAuth takes nothing else. */
  async #checkResource(context: RequestContext): Promise<void> {
    const { address } = this.#options;
    const bearer = context.request.headers.get("authorization");
    const text = bearerOf(context);
    if (context.target.path !== CONNECT_PATH) {
      // All else about it is the sidecar's to say.
      if (isOf(text, address.connect, this.#options)) throw new SvcError("audience_mismatch");
      return;
    }
    try {
      if (bearer === null) throw new SvcError("auth_headers_missing", "Send an access token");
      await this.#checkAccess(text, context);
    } catch (thrown) {
      const error = SvcError.from(thrown);
      throw error.status === 401 ? error.withHeaders(challengeOf(address, context)) : error;
    }
  }

  /** Whether the app of a token is let in at this moment: the sidecar asks once a second only. */
  async #checkAccess(text: string, { clientIp }: RequestContext): Promise<void> {
    const { address, tokens, grants, accounts, now } = this.#options;
    const { publicKey, accountId } = openSessionToken(tokens, text, [address.connect], now());
    await grants.fresh();
    if (!grants.isOpen(publicKey)) throw new SvcError("token_revoked");
    try {
      await accounts.authorize(publicKey, accountId, clientIp);
    } catch (error) {
      const isGone = SvcError.from(error).code === "account_not_authorized";
      throw isGone ? new SvcError("token_revoked") : error;
    }
  }

  /** Has the sidecar close the session of an app that was let in before; it looks whose it is. */
  #closeSession(context: RequestContext, error: unknown): void {
    const { sidecar } = this.#options;
    const hasSession = context.request.headers.has(HEADER.mcpSessionId);
    if (sidecar === undefined || !hasSession || SvcError.from(error).code !== "token_revoked") {
      return;
    }
    const headers = this.#requestHeaders(context);
    sidecar.send({ method: "DELETE", target: MCP_PATH, headers }, AbortSignal.timeout(CLOSING_MS))
      .then((answer) => answer.close(), () => {});
  }

  /** Ends a stream on which an app listens once it is let in no more. */
  #watched(context: RequestContext, stream: RelayedStream): WatchedStream {
    return {
      check: () => this.#checkAccess(bearerOf(context), context),
      end: (error) => {
        stream.end();
        this.#closeSession(context, error);
      },
    };
  }

  /** Reads a whole message, so that its size is checked before the sidecar sees it. */
  async #readBody(
    { request, clientIp }: RequestContext,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    if (request.method !== "POST") return undefined;
    const encoding = request.headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
    if (encoding !== "identity" && encoding !== "") throw new SvcError("unsupported_media_type");
    if (Number(request.headers.get("content-length") ?? 0) > SIGNED_BODY_BYTES) {
      throw new SvcError("body_too_large");
    }
    return await this.#options.bodies.read(request, SIGNED_BODY_BYTES, clientIp);
  }

  #requestHeaders(context: RequestContext): WireRequest["headers"] {
    const given = context.request.headers;
    const headers: [string, string][] = [];
    const { compatAliases } = this.#options.config;
    given.forEach((value, name) => {
      const isPassed = REQUEST_HEADERS.has(name) || name.startsWith(PARAMETER_HEADERS) ||
        (compatAliases && ALIAS_HEADERS.has(name));
      if (isPassed) headers.push([name, value]);
    });
    headers.push([HEADER.requestId, context.requestId]);
    headers.push([HEADER.clientIp, context.clientIp]);
    return headers;
  }

  async #forward(
    context: RequestContext,
    message: Pick<WireRequest, "headers" | "body">,
    connections: Pick<ConnectionPool, "send">,
  ): Promise<Response> {
    const { request, target } = context;
    const method = request.method;
    const isConnect = target.path === CONNECT_PATH;
    let answer: PooledAnswer;
    try {
      // Characters that `Deno.serve` takes as they come would be bytes of a head on the wire.
      const query = target.query.replace(/[^\x21-\x7e]/gu, encodeURIComponent);
      const path = isConnect ? MCP_PATH : target.path;
      const whole = { ...message, method, target: path + query };
      answer = await connections.send(whole, request.signal);
    } catch (cause) {
      // When the client left, it is not the sidecar's failure, and nobody reads the answer.
      if (!request.signal.aborted) this.#options.failures.add({ reason: "unreachable" });
      throw new SvcError("sidecar_unavailable", undefined, { cause });
    }
    const { status, body, whole } = answer;
    const isEvents = answer.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    const headers = responseHeaders(answer.headers, isEvents);
    if (isConnect && status === 401) {
      Object.assign(headers, challengeOf(this.#options.address, context));
    }
    if (body === undefined || whole !== undefined) {
      answer.close();
      const bytes = whole as Uint8Array<ArrayBuffer> | undefined;
      return new Response(bytes ?? null, { status, headers });
    }
    const leave = () => stream.end();
    const stream: Open = {
      isListening: isEvents && method === "GET",
      ...relayedStream(body, {
        stallMs: this.#options.stallMs ?? STALL_MS,
        endsAnywhere: isEvents,
        onEnd: (failure) => {
          this.#open.delete(stream);
          if (watched !== undefined) this.#watch.leave(watched);
          request.signal.removeEventListener("abort", leave);
          if (failure === "broken") this.#options.failures.add({ reason: "broken_stream" });
          answer.close();
        },
      }),
    };
    const watched = isConnect && stream.isListening ? this.#watched(context, stream) : undefined;
    if (watched !== undefined) this.#watch.add(watched);
    this.#open.add(stream);
    request.signal.addEventListener("abort", leave);
    if (request.signal.aborted) leave();
    return new StreamedResponse(stream.readable, { status, headers });
  }
}

/** What a request shows; empty when that cannot be a token. */
function bearerOf({ request }: RequestContext): string {
  return /^Bearer +(\S{1,12000}) *$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";
}

/** What a 401 of the resource of OAuth leads clients by. */
function challengeOf(address: OwnAddress, context: RequestContext): Record<string, string> {
  const showed = context.request.headers.has("authorization");
  return { "www-authenticate": challenge(address, context, showed) };
}

/** Whether a token was made for an address. */
function isOf(
  text: string,
  audience: string,
  { tokens, now }: Pick<McpProxyOptions, "tokens" | "now">,
): boolean {
  if (!text.startsWith(TOKEN_PREFIX)) return false;
  try {
    return openSessionToken(tokens, text, [audience], now()).audience === audience;
  } catch {
    return false;
  }
}

function responseHeaders(given: Pick<Headers, "get">, isEvents: boolean): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of RESPONSE_HEADERS) {
    const value = given.get(name);
    if (value !== null) headers[name] = value;
  }
  if (isEvents) {
    // Compression and reverse proxies would hold events back.
    headers["cache-control"] = "no-cache, no-transform";
    headers["x-accel-buffering"] = "no";
  }
  return headers;
}

/** Open sessions out of the sidecar's health. */
function sessionsIn(bytes: Uint8Array): McpSessions | undefined {
  const health: { readonly sessions?: Partial<McpSessions> } = JSON.parse(
    new TextDecoder().decode(bytes),
  );
  const { sse, streamable } = health.sessions ?? {};
  if (typeof sse !== "number" || typeof streamable !== "number") return undefined;
  return { sse, streamable };
}
