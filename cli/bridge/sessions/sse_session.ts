import { abortable } from "../../../src/deadline.ts";
import { chunksOf } from "../../../src/client/capped_body.ts";
import { readEvents } from "./event_reader.ts";
import { GivenUp, Refused, Unanswered } from "../failures.ts";
import {
  isNotification,
  isResponse,
  type RequestId,
  type RpcRequest,
  type RpcResponse,
} from "../json_rpc.ts";
import {
  brokenBy,
  type Heard,
  type Method,
  type Route,
  type Upstream,
  UpstreamSession,
} from "./session.ts";

/**
 * Where messages go: an absolute or relative address of the relayer's own origin.
 *
 * @throws {Refused} for any other: the key would go to a stranger.
 */
export function endpointOf(data: string, stream: string): string {
  const url = URL.parse(data.trim(), stream);
  if (url === null || url.origin !== new URL(stream).origin || url.username !== "") {
    throw new Refused(502, "The relayer named an endpoint that is not its own");
  }
  return url.href;
}

/** A session of HTTP with SSE (revision 2024-11-05): it lives as long as its stream. */
export class SseSession extends UpstreamSession {
  readonly transport = "sse";
  readonly #waiting = new Map<RequestId, PromiseWithResolvers<RpcResponse>>();
  #endpoint = "";

  protected override end(reason: Error): void {
    super.end(reason);
    // What was posted may have been taken, whatever became of the session.
    const unknown = reason instanceof GivenUp ? reason : new Unanswered(reason.message);
    for (const { reject } of this.#waiting.values()) reject(unknown);
    this.#waiting.clear();
  }

  /**
   * Opens a session.
   *
   * @throws {Refused} with the status of the relayer's answer, or for a strange endpoint.
   * @throws {Unanswered} when there is none.
   */
  static async open(upstream: Upstream, heard: Heard, signal: AbortSignal): Promise<SseSession> {
    const session = new SseSession(upstream, heard);
    const abort = (): void => session.stop.abort(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    try {
      await session.#connect();
      await session.initialize(signal);
      await session.notify("notifications/initialized");
      return session;
    } catch (error) {
      throw await session.abandoned(error);
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  protected route(method: Method): Route {
    if (method !== "GET") return { url: this.#endpoint, headers: {}, inSession: true };
    const url = `${this.upstream.relayer}/api/mcp/sse`;
    return { url, headers: { accept: "text/event-stream" }, inSession: false };
  }

  /** Opens the stream and waits for the endpoint. */
  async #connect(): Promise<void> {
    const response = await this.send("GET", this.stop.signal);
    await new Promise<void>((resolve, reject) => {
      void this.#read(response, resolve).catch((cause: unknown) => {
        const error = cause instanceof Refused ? cause : brokenBy(cause, this.stop.signal);
        reject(error);
        this.end(error as Error);
      });
    });
  }

  async #read(response: Response, ready: () => void): Promise<never> {
    for await (const { name, data } of readEvents(chunksOf(response.body))) {
      if (name === "endpoint" && this.#endpoint === "") {
        this.#endpoint = endpointOf(data, this.route("GET").url);
        ready();
      } else if (name === "message") this.#take(JSON.parse(data));
    }
    throw new Unanswered("The relayer ended the stream");
  }

  #take(message: unknown): void {
    if (isNotification(message)) return this.heard(message);
    if (isResponse(message) && message.id !== null) this.#waiting.get(message.id)?.resolve(message);
  }

  protected async exchange(request: RpcRequest, signal: AbortSignal): Promise<RpcResponse> {
    const answer = Promise.withResolvers<RpcResponse>();
    this.#waiting.set(request.id, answer);
    answer.promise.catch(() => {}); // The POST may fail first.
    try {
      signal.throwIfAborted();
      await this.post(request, signal);
      return await abortable(answer.promise, signal);
    } finally {
      this.#waiting.delete(request.id);
    }
  }

  /** Nothing is sent: the relayer notices that the stream has ended. */
  protected leave(): Promise<void> {
    return Promise.resolve();
  }
}
