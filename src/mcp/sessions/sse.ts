import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  type Transport,
} from "@modelcontextprotocol/server";
import { SvcError } from "../../errors.ts";
import type { BearerSecret } from "../bearer.ts";
import { buildServer, inServerNaming } from "../mcp_server.ts";
import { checkAccept, readMessageBody } from "../message_body.ts";
import { type AdmittedSession, clientIpOf, type SessionAdmission } from "../session_admission.ts";
import { EventStream } from "./event_stream.ts";
import { RepeatedWrites } from "./repeated_writes.ts";

/** A session and the transport of its server: one stream out, messages in by POST. */
class SseSession implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport["onmessage"]>;
  readonly stream: EventStream;

  /** Opens the stream; its first event names where messages go. */
  constructor(
    readonly sessionId: string,
    readonly admitted: AdmittedSession,
    keepaliveMs: number,
  ) {
    const onEnd = () => this.onclose?.();
    this.stream = new EventStream({ firstKeepaliveMs: 0, keepaliveMs, onEnd });
    this.stream.event("endpoint", `/api/mcp/messages?sessionId=${this.sessionId}`);
  }

  /** Nothing is left to start. */
  start(): Promise<void> {
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    this.stream.event("message", JSON.stringify(message));
    return Promise.resolve();
  }

  /** Ends the stream and with it the session. */
  close(): Promise<void> {
    this.stream.close();
    return Promise.resolve();
  }
}

/** Most messages of one batch. */
const MOST_MESSAGES = 100;

/** HTTP with SSE, revision 2024-11-05, which lives as long as its connection. */
export class SseSessions {
  readonly #admission: SessionAdmission;
  readonly #sessions = new Map<string, SseSession>();
  readonly #writes: RepeatedWrites;

  constructor(admission: SessionAdmission) {
    this.#admission = admission;
    this.#writes = new RepeatedWrites(admission.now);
  }

  get size(): number {
    return this.#sessions.size;
  }

  /**
   * Opens a session.
   *
   * @throws {SvcError} what it is refused with.
   */
  async open(request: Request): Promise<Response> {
    this.#admission.bearer(request);
    checkAccept(request.headers, ["text/event-stream"]);
    const admitted = await this.#admission.admit(request);
    const { principal, headers, release } = admitted;
    const keepaliveMs = this.#admission.limits.keepaliveSeconds * 1000;
    const session = new SseSession(this.#admission.sessionId(), admitted, keepaliveMs);
    // The default namespace is an argument of every call that names none.
    const writes = this.#writes.session(`${principal.hash} ${headers.namespace ?? ""}`);
    const server = buildServer({
      principal,
      ...headers,
      // What the host declares comes when its tools are made already.
      hasCard: false,
      derivedKey: (tool, given, requestId) => writes.keyOf(tool, given, requestId),
    }, this.#admission);
    server.server.onclose = () => {
      this.#sessions.delete(session.sessionId);
      release();
      writes.end();
    };
    await server.connect(session);
    this.#sessions.set(session.sessionId, session);
    return session.stream.response();
  }

  /**
   * Takes a message for an open session.
   *
   * @throws {SvcError} what it is refused with.
   */
  async message(request: Request): Promise<Response> {
    const session = this.#sessionOf(new URL(request.url).searchParams.getAll("sessionId"));
    const { principal, address, headers: { alias } } = session.admitted;
    let secret: BearerSecret | undefined;
    if (request.headers.get("authorization")) {
      const bearer = this.#admission.bearer(request);
      ({ secret } = bearer);
      if (bearer.hash !== principal.hash) throw new SvcError("session_mismatch");
    } else if (clientIpOf(request) !== address) {
      throw new SvcError("auth_headers_missing", "The session was opened from another address");
    }
    const messages = messagesOf(await readMessageBody(request));
    await principal.check(secret, () => session.close());
    const { aliases } = this.#admission.limits;
    for (const message of messages) {
      session.onmessage?.(aliases ? inServerNaming(message, alias) : message);
    }
    return new Response(null, { status: 202 });
  }

  #sessionOf(ids: readonly string[]): SseSession {
    const [id = ""] = ids;
    if (ids.length !== 1 || !/^[\w.-]{1,128}$/.test(id)) throw new SvcError("session_required");
    const session = this.#sessions.get(id);
    if (session === undefined) throw new SvcError("session_not_found");
    return session;
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map((session) => session.close()));
  }
}

function isMessage(value: unknown): value is JSONRPCMessage {
  return isJSONRPCRequest(value) || isJSONRPCNotification(value) || isJSONRPCResponse(value);
}

function messagesOf(body: unknown): readonly JSONRPCMessage[] {
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
  if (messages.length === 0 || messages.length > MOST_MESSAGES || !messages.every(isMessage)) {
    throw new SvcError("invalid_request", "The body is not a JSON-RPC message");
  }
  return messages;
}
