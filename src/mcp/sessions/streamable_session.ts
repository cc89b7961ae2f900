import type { McpServer } from "@modelcontextprotocol/server";
import { SESSION_REVISIONS } from "../../wire/mcp.ts";
import { EVENT_STREAM_HEADERS, guardStream } from "./event_stream.ts";
import type { AdmittedSession, SessionAdmission } from "../session_admission.ts";
import { completeRefusal } from "./library_refusal.ts";
import { buildServer, inServerNaming } from "../mcp_server.ts";
import { withHeader } from "../message_body.ts";
import type { Principal } from "../principal.ts";
import { StreamableTransport } from "./streamable_transport.ts";

/** Wait for the first sign of life on the stream of a call, in milliseconds. */
const FIRST_KEEPALIVE_MS = 1000;
/** An `Accept` that the library takes: it knows no ranges of types and no capitals. */
const ACCEPT = "application/json, text/event-stream";

export class StreamableSession {
  readonly id: string;
  readonly principal: Principal;
  readonly #alias: boolean;
  readonly #admission: SessionAdmission;
  readonly #transport: StreamableTransport;
  readonly #server: McpServer;
  readonly #release: () => void;
  #lastUse: number;
  #busy = 0;

  /** Of a session that was let in; `onClose` is called once, when it has ended. */
  constructor(
    id: string,
    admitted: AdmittedSession,
    admission: SessionAdmission,
    onClose: () => void,
  ) {
    const { principal, headers, release } = admitted;
    this.id = id;
    this.principal = principal;
    this.#alias = headers.alias;
    this.#admission = admission;
    this.#release = () => {
      release();
      onClose();
    };
    this.#lastUse = admission.now();
    this.#transport = new StreamableTransport({
      sessionIdGenerator: () => id,
      supportedProtocolVersions: [...SESSION_REVISIONS],
      keepAliveMs: 0,
    });
    this.#server = buildServer({ principal, ...headers }, admission);
  }

  /** Makes it ready for its first request. */
  async connect(): Promise<void> {
    await this.#server.connect(this.#transport);
    this.#server.server.onclose = this.#release;
  }

  /** Whether it has been without request and open stream for so long, in milliseconds. */
  isIdle(idleMs: number): boolean {
    return this.#busy === 0 && this.#admission.now() - this.#lastUse >= idleMs;
  }

  /** Answers a request whose credentials and `Accept` were checked; `body` is its parsed JSON. */
  async answer(request: Request, body: unknown, requestId: string): Promise<Response> {
    // The newest stream counts: the connection of the one before may be gone without a trace.
    if (request.method === "GET") this.#transport.closeStandaloneSSEStream();
    const alias = this.#alias;
    const parsedBody = this.#admission.limits.aliases
      ? Array.isArray(body)
        ? body.map((message: unknown) => inServerNaming(message, alias))
        : inServerNaming(body, alias)
      : body;
    const accepting = request.headers.get("accept") === ACCEPT
      ? request
      : withHeader(request, "accept", ACCEPT);
    this.#busy++;
    let streaming = false;
    try {
      const response = await this.#transport.handleRequest(accepting, { parsedBody });
      if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
        return await completeRefusal(response, requestId);
      }
      streaming = true;
      const firstKeepaliveMs = request.method === "GET" ? 0 : FIRST_KEEPALIVE_MS;
      return this.#stream(response, firstKeepaliveMs, () => this.#transport.leave(parsedBody));
    } finally {
      if (!streaming) this.#done();
    }
  }

  #stream(response: Response, firstKeepaliveMs: number, onEnd: () => void): Response {
    const body = guardStream(response.body!, {
      firstKeepaliveMs,
      keepaliveMs: this.#admission.limits.keepaliveSeconds * 1000,
      onEnd: () => {
        onEnd();
        this.#done();
      },
    });
    return new Response(body, {
      status: response.status,
      headers: { ...EVENT_STREAM_HEADERS, "mcp-session-id": this.id },
    });
  }

  #done(): void {
    this.#busy--;
    this.#lastUse = this.#admission.now();
  }

  /** Ends it: streams close, waits end, the slot is free. */
  async close(): Promise<void> {
    await this.#server.close();
  }
}
