import { pause } from "../../../src/deadline.ts";
import { HEADER } from "../../../src/wire/headers.ts";
import { chunksOf } from "../../../src/client/capped_body.ts";
import { readEvents, readText } from "./event_reader.ts";
import { Refused, SessionLost, Unanswered } from "../failures.ts";
import {
  errorOf,
  isNotification,
  isRequest,
  isResponse,
  notification,
  type RequestId,
  resultOf,
  RPC,
  type RpcRequest,
  type RpcResponse,
} from "../json_rpc.ts";
import {
  brokenBy,
  type Heard,
  type Method,
  type Route,
  SHORT_MS,
  type Upstream,
  UPSTREAM_REVISION,
  UpstreamSession,
} from "./session.ts";

/** Pause before the listening stream is opened again, in milliseconds. */
const LISTEN_PAUSE_MS = 1000;

/**
 * Reads a stream to its end, which comes with the answer: a connection whose stream is broken off
 * cannot be used again. One that does not end is broken off all the same.
 */
async function readOut(events: AsyncGenerator<unknown>, breakOff: () => void): Promise<void> {
  const timer = setTimeout(breakOff, SHORT_MS);
  try {
    while (!(await events.next()).done);
  } catch {
    // The answer was there.
  } finally {
    clearTimeout(timer);
  }
}

export class StreamableSession extends UpstreamSession {
  readonly transport = "http";
  #id: string | null = null;
  #revision: string | undefined;

  /**
   * Opens a session.
   *
   * @throws {Refused} with the status of the relayer's answer.
   * @throws {Unanswered} when there is none.
   */
  static async open(
    upstream: Upstream,
    heard: Heard,
    signal: AbortSignal,
  ): Promise<StreamableSession> {
    signal.throwIfAborted();
    const session = new StreamableSession(upstream, heard);
    // A session whose id is not known cannot be closed, and keeps its place at the relayer.
    const late = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const abort = (): void => {
      timer = setTimeout(() => late.abort(signal.reason), SHORT_MS);
    };
    signal.addEventListener("abort", abort, { once: true });
    try {
      await session.#start(late.signal);
      signal.throwIfAborted();
    } catch (error) {
      throw await session.abandoned(error);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    }
    void session.#listen();
    return session;
  }

  async #start(signal: AbortSignal): Promise<void> {
    const { result } = await this.initialize(signal);
    const revision = result?.protocolVersion;
    this.#revision = typeof revision === "string" ? revision : UPSTREAM_REVISION;
    await this.post(notification("notifications/initialized"), signal);
  }

  protected route(method: Method): Route {
    return {
      url: `${this.upstream.relayer}/api/mcp`,
      headers: {
        accept: method === "GET" ? "text/event-stream" : "application/json, text/event-stream",
        ...(this.#id === null ? {} : { [HEADER.mcpSessionId]: this.#id }),
        ...(this.#revision === undefined ? {} : { [HEADER.mcpProtocolVersion]: this.#revision }),
      },
      inSession: this.#id !== null,
    };
  }

  protected async exchange(request: RpcRequest, signal: AbortSignal): Promise<RpcResponse> {
    const own = new AbortController();
    const all = AbortSignal.any([signal, own.signal]);
    const response = await this.send("POST", all, request);
    // The first answer, and no later one, tells the session's id.
    if (this.#revision === undefined) this.#id = response.headers.get(HEADER.mcpSessionId);
    return await this.#answerIn(response, request.id, all, () => own.abort());
  }

  /** The answer in a response: one JSON text, or an event stream with other messages before it. */
  async #answerIn(
    response: Response,
    id: RequestId,
    signal: AbortSignal,
    breakOff: () => void,
  ): Promise<RpcResponse> {
    const type = response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
    try {
      if (type === "application/json") {
        const message: unknown = JSON.parse(await readText(response.body));
        if (isResponse(message) && message.id === id) return message;
      } else if (type === "text/event-stream") {
        const events = readEvents(chunksOf(response.body));
        for (let next; !(next = await events.next()).done;) {
          const message: unknown = JSON.parse(next.value.data);
          if (isResponse(message) && message.id === id) {
            void readOut(events, breakOff);
            return message;
          }
          this.#hear(message);
        }
      } else {
        await response.body?.cancel();
        throw new Refused(502, "The relayer's answer is no MCP message");
      }
    } catch (cause) {
      if (cause instanceof Refused) throw cause;
      throw brokenBy(cause, signal);
    }
    throw new Unanswered("The relayer ended the connection without an answer");
  }

  #hear(message: unknown): void {
    if (isNotification(message)) this.heard(message);
    else if (isRequest(message)) {
      const { id, method } = message;
      const answer = method === "ping"
        ? resultOf(id, {})
        : errorOf(id, RPC.methodNotFound, "Method not found");
      void this.tryTo((signal) => this.post(answer, signal));
    }
  }

  /** What the relayer says on its own; the end of this stream is how a dead relayer is noticed. */
  async #listen(): Promise<void> {
    const { signal } = this.stop;
    while (!this.over && !signal.aborted) {
      try {
        const response = await this.send("GET", signal);
        for await (const { data } of readEvents(chunksOf(response.body))) {
          this.#hear(JSON.parse(data));
        }
      } catch (error) {
        if (signal.aborted) return;
        // A relayer need not offer this stream.
        if (error instanceof Refused && error.isFinal && error.status !== 401) return;
        if (error instanceof SessionLost || error instanceof Unanswered) return this.end(error);
      }
      await pause(LISTEN_PAUSE_MS, signal);
    }
  }

  /** A relayer that does not hear it closes the session when it has been idle. */
  protected async leave(): Promise<void> {
    if (this.#id === null) return;
    await this.tryTo(async (signal) => {
      const response = await this.send("DELETE", signal);
      await response.body?.cancel();
    });
  }
}
