import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
} from "@modelcontextprotocol/server";
import { SvcError } from "../../errors.ts";
import { hasBearer } from "../bearer.ts";
import {
  clientIpOf,
  isRevoked,
  isSessionId,
  randomSessionId,
  type SessionAdmission,
} from "../session_admission.ts";
import { buildServer, inServerNaming } from "../mcp_server.ts";
import { checkAccept, readMessageBody } from "../message_body.ts";
import type { Principal } from "../principal.ts";
import { RepeatedWrites } from "./repeated_writes.ts";
import { SseTransport } from "./sse_transport.ts";

interface SseSession {
  readonly principal: Principal;
  readonly transport: SseTransport;
  readonly clientIp: string;
  readonly alias: boolean;
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
    const { principal, headers, release } = await this.#admission.admit(request);
    const id = randomSessionId();
    const { keepaliveSeconds } = this.#admission.limits;
    const transport = new SseTransport(id, keepaliveSeconds * 1000);
    // The default namespace is an argument of every call that names none.
    const writes = this.#writes.session(`${principal.hash} ${headers.namespace ?? ""}`);
    const server = buildServer({
      principal,
      ...headers,
      derivedKey: (tool, given, requestId) => writes.keyOf(tool, given, requestId),
    }, this.#admission);
    server.server.onclose = () => {
      this.#sessions.delete(id);
      release();
      writes.end();
    };
    await server.connect(transport);
    const { alias } = headers;
    this.#sessions.set(id, { principal, transport, clientIp: clientIpOf(request), alias });
    return transport.response();
  }

  /**
   * Takes a message for an open session.
   *
   * @throws {SvcError} what it is refused with.
   */
  async message(request: Request): Promise<Response> {
    const session = this.#sessionOf(new URL(request.url).searchParams.getAll("sessionId"));
    if (hasBearer(request.headers)) {
      const { hash } = this.#admission.bearer(request);
      if (hash !== session.principal.hash) throw new SvcError("session_mismatch");
    } else if (clientIpOf(request) !== session.clientIp) {
      throw new SvcError("auth_headers_missing", "The session was opened from another address");
    }
    const messages = messagesOf(await readMessageBody(request));
    try {
      await session.principal.check();
    } catch (error) {
      if (isRevoked(error)) await session.transport.close();
      throw error;
    }
    const { aliases } = this.#admission.limits;
    for (const message of messages) {
      session.transport.onmessage?.(aliases ? inServerNaming(message, session.alias) : message);
    }
    return new Response(null, { status: 202 });
  }

  #sessionOf(ids: readonly string[]): SseSession {
    const [id = ""] = ids;
    if (ids.length !== 1 || !/^[\w-]{1,128}$/.test(id)) throw new SvcError("session_required");
    const session = isSessionId(id) ? this.#sessions.get(id) : undefined;
    if (session === undefined) throw new SvcError("session_not_found");
    return session;
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map(({ transport }) => transport.close()));
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
