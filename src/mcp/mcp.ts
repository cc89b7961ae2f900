import {
  classifyInboundRequest,
  isJSONRPCRequest,
  type JSONRPCMessage,
  PROTOCOL_VERSION_META_KEY,
} from "@modelcontextprotocol/server";
import { SvcError } from "../errors.ts";
import { HEADER } from "../wire/headers.ts";
import { jsonRpcErrorResponse } from "../wire/json_rpc_error.ts";
import { isSameSecret } from "../http1/mutual_proof.ts";
import { SessionAdmission } from "./session_admission.ts";
import type { ServerExtension } from "./mcp_server.ts";
import { checkAccept, readMessageBody } from "./message_body.ts";
import type { SidecarOptions, SidecarStats } from "./options.ts";
import { SseSessions } from "./sessions/sse.ts";
import { Sessionless } from "./sessions/sessionless.ts";
import { StreamableSessions } from "./sessions/streamable.ts";

/** Longest pause between looks for idle sessions, in milliseconds. */
const SWEEP_MS = 30_000;

/** What is known of who asks; servers tell more than that. */
export interface AskerInfo {
  /** Whether it has proven to be the relayer. */
  readonly isProven?: boolean;
  /** The other end of the connection. */
  readonly remoteAddr?: Deno.Addr;
}

/** MCP for relayers; in a process of its own, or in this one. */
export interface Sidecar extends AsyncDisposable {
  /**
   * Answers a request of the MCP routes; who asks must be the relayer.
   *
   * @param info Whether that is known; else the request carries the token in `x-svc-sidecar-token`,
   * as in a program that hands it over without a connection.
   */
  fetch(request: Request, info?: AskerInfo): Promise<Response>;
  /** Numbers of open sessions. */
  stats(): SidecarStats;
}

const METHODS: Readonly<Record<string, readonly string[]>> = {
  "/api/mcp": ["GET", "POST", "DELETE"],
  "/api/mcp/sse": ["GET"],
  "/api/mcp/messages": ["POST"],
};

class McpSidecar implements Sidecar {
  readonly #admission: SessionAdmission;
  readonly #sse: SseSessions;
  readonly #streamable: StreamableSessions;
  readonly #sessionless: Sessionless;
  readonly #sweep: ReturnType<typeof setInterval>;

  constructor(options: SidecarOptions, extension?: ServerExtension) {
    this.#admission = new SessionAdmission(options, extension);
    this.#sse = new SseSessions(this.#admission);
    this.#streamable = new StreamableSessions(this.#admission);
    this.#sessionless = new Sessionless(this.#admission);
    const pause = Math.min(SWEEP_MS, this.#admission.limits.idleSeconds * 250);
    this.#sweep = setInterval(() => this.#streamable.closeIdle(), pause);
    Deno.unrefTimer(Number(this.#sweep));
  }

  stats(): SidecarStats {
    this.#streamable.closeIdle();
    const { caps } = this.#admission;
    return { sse: this.#sse.size, streamable: this.#streamable.size, sessions: caps.total };
  }

  // Handed to a server, which calls it without `this`.
  readonly fetch: Sidecar["fetch"] = async (request, info) => {
    const requestId = request.headers.get(HEADER.requestId) ?? crypto.randomUUID();
    let response: Response;
    try {
      response = await this.#answer(request, requestId, info?.isProven === true);
    } catch (thrown) {
      response = this.#refuse(thrown, requestId);
    }
    if (!request.bodyUsed) await request.body?.cancel().catch(() => {});
    response.headers.set(HEADER.requestId, requestId);
    return response;
  };

  #answer(request: Request, requestId: string, isProven: boolean): Promise<Response> {
    const given = request.headers.get(HEADER.sidecarToken) ?? "";
    if (!isProven && !isSameSecret(given, this.#admission.options.token)) {
      return Promise.resolve(new Response("Forbidden\n", { status: 403 }));
    }
    const { pathname } = new URL(request.url);
    const methods = Object.hasOwn(METHODS, pathname) ? METHODS[pathname]! : undefined;
    if (methods === undefined) throw new SvcError("not_found");
    if (!methods.includes(request.method)) {
      const headers = { allow: methods.join(", ") };
      throw new SvcError("method_not_allowed", undefined, { headers });
    }
    if (pathname === "/api/mcp/sse") return this.#sse.open(request);
    if (pathname === "/api/mcp/messages") return this.#sse.message(request);
    return this.#endpoint(request, requestId);
  }

  /** The endpoint that every revision but the oldest transport shares. */
  async #endpoint(request: Request, requestId: string): Promise<Response> {
    const bearer = this.#admission.bearer(request);
    if (request.method === "GET") checkAccept(request.headers, ["text/event-stream"]);
    if (request.method !== "POST") {
      return await this.#streamable.answer(request, bearer, undefined, requestId);
    }
    const body = await readMessageBody(request, ["application/json", "text/event-stream"]);
    return isOfSessions(request.headers, body)
      ? await this.#streamable.answer(request, bearer, body, requestId)
      : await this.#sessionless.answer(request, bearer, body, requestId);
  }

  #refuse(thrown: unknown, requestId: string): Response {
    const error = SvcError.from(thrown);
    if (error.status >= 500) {
      const reason = error.cause instanceof Error ? error.cause.name : error.code;
      const { logger } = this.#admission;
      logger.error("mcp request failed", { request_id: requestId, code: error.code, reason });
    }
    return jsonRpcErrorResponse(error, requestId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sweep);
    await Promise.all([
      this.#sse.closeAll(),
      this.#streamable.closeAll(),
      this.#sessionless.close(),
    ]);
  }
}

/**
 * Whether a message belongs to the revisions with sessions. On a session it does unless it names
 * another revision itself: what a header names there is for the session to check.
 */
function isOfSessions(
  headers: Headers,
  body: unknown,
): body is JSONRPCMessage | readonly JSONRPCMessage[] {
  const onSession = headers.has(HEADER.mcpSessionId);
  // Nearly every message; the library would try other shapes first.
  if (onSession && isJSONRPCRequest(body)) {
    if (!(PROTOCOL_VERSION_META_KEY in (body.params?._meta ?? {}))) return true;
  }
  const revision = onSession ? null : headers.get(HEADER.mcpProtocolVersion);
  const { kind } = classifyInboundRequest({
    httpMethod: "POST",
    body,
    ...(revision === null ? {} : { protocolVersionHeader: revision }),
  });
  return kind === "legacy";
}

/**
 * Makes a sidecar: MCP sessions whose tools sign ordinary requests to a relayer. It keeps nothing
 * and may run in the relayer's own process, in another one, or inside a program that embeds it.
 */
export function createSidecar(options: SidecarOptions): Sidecar {
  return new McpSidecar(options);
}

/** Makes a sidecar whose servers have more than the product's tools. */
export function createExtendedSidecar(
  options: SidecarOptions,
  extension?: ServerExtension,
): Sidecar {
  return new McpSidecar(options, extension);
}
