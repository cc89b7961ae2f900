import {
  isInitializeRequest,
  isJSONRPCRequest,
  type JSONRPCMessage,
} from "@modelcontextprotocol/server";
import { SvcError } from "../../errors.ts";
import { HEADER } from "../../wire/headers.ts";
import { SESSION_REVISIONS } from "../../wire/mcp.ts";
import type { Bearer } from "../bearer.ts";
import type { SessionAdmission } from "../session_admission.ts";
import { StreamableSession } from "./streamable_session.ts";

/** Streamable HTTP with sessions: revisions 2025-03-26 to 2025-11-25, and 2024-11-05 by choice. */
export class StreamableSessions {
  readonly #admission: SessionAdmission;
  readonly #sessions = new Map<string, StreamableSession>();

  constructor(admission: SessionAdmission) {
    this.#admission = admission;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /**
   * Answers a request of these revisions with these credentials; only a POST has a body.
   *
   * @throws {SvcError} what it is refused with.
   */
  async answer(
    request: Request,
    bearer: Bearer,
    body: JSONRPCMessage | readonly JSONRPCMessage[] | undefined,
    requestId: string,
  ): Promise<Response> {
    const id = request.headers.get(HEADER.mcpSessionId);
    // The method first: the library checks the whole message.
    const initializes = [body ?? []].flat().some((message: JSONRPCMessage) =>
      "method" in message && message.method === "initialize" && isInitializeRequest(message)
    );
    if (!initializes) checkRevision(request.headers);
    if (id === null) {
      // A notification may look the same; its answer would not tell the session's id.
      if (!initializes || !isJSONRPCRequest(body)) throw new SvcError("session_required");
      return await this.#open(request, body, requestId);
    }
    const session = this.#sessions.get(id);
    if (session === undefined) throw new SvcError("session_not_found");
    if (session.principal.hash !== bearer.hash) throw new SvcError("session_mismatch");
    await session.principal.check(bearer.secret, () => session.close());
    // It may have ended meanwhile.
    if (!this.#sessions.has(id)) throw new SvcError("session_not_found");
    if (initializes) throw new SvcError("already_initialized");
    if (body !== undefined) return session.take(body, requestId);
    if (request.method === "GET") return session.listen();
    await session.close();
    return new Response(null, { status: 200 });
  }

  async #open(request: Request, body: JSONRPCMessage, requestId: string): Promise<Response> {
    // Whoever is idle for too long must not be why somebody else is refused.
    this.closeIdle();
    const admitted = await this.#admission.admit(request);
    const id = this.#admission.sessionId();
    const session = new StreamableSession(id, admitted, this.#admission);
    try {
      await session.connect(body, () => this.#sessions.delete(id));
      this.#sessions.set(id, session);
      return session.take(body, requestId);
    } catch (error) {
      admitted.release();
      this.#sessions.delete(id);
      throw error;
    }
  }

  /** Closes sessions that nobody has used for the idle time. */
  closeIdle(): void {
    const idleMs = this.#admission.limits.idleSeconds * 1000;
    for (const session of this.#sessions.values()) {
      if (session.isIdle(idleMs)) void session.close();
    }
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map((session) => session.close()));
  }
}

function checkRevision(headers: Headers): void {
  const revision = headers.get(HEADER.mcpProtocolVersion)?.trim();
  if (revision === undefined || SESSION_REVISIONS.includes(revision)) return;
  throw new SvcError(
    "unsupported_protocol_version",
    `${HEADER.mcpProtocolVersion} must be one of ${SESSION_REVISIONS.join(", ")}`,
  );
}
