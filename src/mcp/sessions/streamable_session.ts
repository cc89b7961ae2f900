import type {
  JSONRPCMessage,
  RequestId,
  Transport,
  TransportSendOptions,
} from "@modelcontextprotocol/server";
import { SvcError } from "../../errors.ts";
import { HEADER } from "../../wire/headers.ts";
import { buildServer, inServerNaming } from "../mcp_server.ts";
import { capabilitiesIn, showsCard } from "../../wire/card/review_card.ts";
import type { Principal } from "../principal.ts";
import type { AdmittedSession, SessionAdmission } from "../session_admission.ts";
import { EventStream } from "./event_stream.ts";

/** Wait for the first sign of life on the stream of a call, in milliseconds. */
const FIRST_KEEPALIVE_MS = 1000;
/** Most messages of one batch. */
const MOST_MESSAGES = 100;

/** Requests that came in one POST: one stream has all their responses. */
interface Post {
  readonly stream: EventStream;
  /** Those without a response. */
  readonly waiting: Set<RequestId>;
}

/** The refusal of a request that would be mistaken for an earlier one. */
function inUse(id: RequestId, requestId: string): Response {
  const data = { code: "invalid_request", request_id: requestId };
  const error = { code: -32600, message: "The id is in use", data };
  return Response.json({ jsonrpc: "2.0", id, error }, { status: 400 });
}

/**
 * One session of Streamable HTTP, and the transport of its server. The library's own would keep a
 * stream open for a request that was cancelled, and checks the shape of every message nine times.
 */
export class StreamableSession implements Transport {
  readonly sessionId: string;
  readonly principal: Principal;
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onmessage: Transport["onmessage"];
  readonly #admitted: AdmittedSession;
  readonly #admission: SessionAdmission;
  readonly #streams = new Set<EventStream>();
  /** By the ids of their requests, until these are answered or the stream has ended. */
  readonly #posts = new Map<RequestId, Post>();
  /** For messages that belong to no request. */
  #listening: EventStream | undefined;
  #lastUse: number;

  /** Of a session that was let in. */
  constructor(sessionId: string, admitted: AdmittedSession, admission: SessionAdmission) {
    this.sessionId = sessionId;
    this.principal = admitted.principal;
    this.#admitted = admitted;
    this.#admission = admission;
    this.#lastUse = admission.now();
  }

  /**
   * Makes it ready for its first request; `onEnd` is called once, when it has ended.
   *
   * @param initialize The message that opens it, which says what the host can do.
   */
  async connect(initialize: JSONRPCMessage, onEnd: () => void): Promise<void> {
    const { principal, headers, release } = this.#admitted;
    const hasCard = headers.profile === "memory" && showsCard(capabilitiesIn(initialize));
    // Not the id of the session, with which it is used.
    const session = crypto.randomUUID();
    const server = buildServer({ principal, ...headers, hasCard, session }, this.#admission);
    await server.connect(this);
    server.server.onclose = () => {
      release();
      onEnd();
    };
  }

  /** Nothing is left to start. */
  start(): Promise<void> {
    return Promise.resolve();
  }

  /** Whether it has been without request and open stream for so long, in milliseconds. */
  isIdle(idleMs: number): boolean {
    return this.#streams.size === 0 && this.#admission.now() - this.#lastUse >= idleMs;
  }

  /** Answers a GET: a stream. */
  listen(): Response {
    // The newest stream counts: the connection of the one before may be gone without a trace.
    this.#listening?.close();
    this.#listening = this.#open(0);
    return this.#response(this.#listening);
  }

  /**
   * Answers a POST whose body was checked to be of JSON-RPC; `requestId` is that of HTTP.
   *
   * @throws {SvcError} `invalid_request`.
   */
  take(body: JSONRPCMessage | readonly JSONRPCMessage[], requestId: string): Response {
    this.#lastUse = this.#admission.now();
    const { aliases } = this.#admission.limits;
    const { alias } = this.#admitted.headers;
    const messages = [body].flat().map((message: JSONRPCMessage) =>
      aliases ? inServerNaming(message, alias) : message
    );
    if (messages.length > MOST_MESSAGES) {
      const message = `Invalid Request: Batch must not exceed ${MOST_MESSAGES} messages`;
      throw new SvcError("invalid_request", message);
    }
    const waiting = new Set<RequestId>();
    for (const message of messages) {
      if (!("method" in message && "id" in message)) continue;
      if (this.#posts.has(message.id)) return inUse(message.id, requestId);
      waiting.add(message.id);
    }
    const stream = waiting.size === 0 ? undefined : this.#streamFor(waiting);
    for (const message of messages) this.onmessage?.(message);
    for (const message of messages) this.#cancel(message);
    return stream === undefined ? new Response(null, { status: 202 }) : this.#response(stream);
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const isResponse = !("method" in message);
    const id = isResponse ? message.id : options?.relatedRequestId;
    const post = id === undefined ? undefined : this.#posts.get(id);
    if (id !== undefined && post === undefined) {
      return Promise.reject(new Error("The request was answered, or its client has left"));
    }
    const stream = post?.stream ?? this.#listening;
    stream?.event("message", JSON.stringify(message));
    if (isResponse && id !== undefined && post !== undefined) {
      this.#posts.delete(id);
      this.#settle(post, id);
    }
    return Promise.resolve();
  }

  /** Ends it: streams close, waits end, the slot is free. */
  close(): Promise<void> {
    for (const stream of this.#streams) stream.close();
    const { onclose } = this;
    this.onclose = undefined;
    onclose?.();
    return Promise.resolve();
  }

  #open(firstKeepaliveMs: number, onEnd?: () => void): EventStream {
    const stream = new EventStream({
      firstKeepaliveMs,
      keepaliveMs: this.#admission.limits.keepaliveSeconds * 1000,
      onEnd: () => {
        this.#streams.delete(stream);
        this.#lastUse = this.#admission.now();
        onEnd?.();
      },
    });
    this.#streams.add(stream);
    return stream;
  }

  #streamFor(waiting: Set<RequestId>): EventStream {
    const ids = [...waiting];
    const stream = this.#open(FIRST_KEEPALIVE_MS, () => {
      for (const id of ids) if (this.#posts.get(id) === post) this.#posts.delete(id);
    });
    const post = { stream, waiting };
    for (const id of ids) this.#posts.set(id, post);
    return stream;
  }

  #response(stream: EventStream): Response {
    return stream.response({ [HEADER.mcpSessionId]: this.sessionId });
  }

  /** A cancelled request gets no response: its stream does not wait for one. */
  #cancel(message: JSONRPCMessage): void {
    if (!("method" in message) || "id" in message) return;
    if (message.method !== "notifications/cancelled") return;
    const id = message.params?.["requestId"] as RequestId;
    const post = this.#posts.get(id);
    if (post !== undefined) this.#settle(post, id);
  }

  #settle({ stream, waiting }: Post, id: RequestId): void {
    if (waiting.delete(id) && waiting.size === 0) stream.close();
  }
}
