import { chunksOf } from "../../../src/client/capped_body.ts";
import { readEvents } from "./event_reader.ts";
import { GivenUp, Refused, SessionLost, Unanswered } from "../failures.ts";
import {
  isNotification,
  isResponse,
  type RequestId,
  type RpcMessage,
  type RpcResponse,
} from "../json_rpc.ts";
import { brokenBy, send } from "./post.ts";
import { type Heard, type Outgoing, type Upstream, UpstreamSession } from "./session.ts";

interface Waiting {
  readonly resolve: (answer: RpcResponse) => void;
  readonly reject: (reason: Error) => void;
}

/**
 * Where messages go: an absolute or relative address of the relayer's own origin.
 *
 * @throws {Refused} for any other: the key would go to a stranger.
 */
export function endpointOf(data: string, stream: string): string {
  let url: URL | undefined;
  try {
    url = new URL(data.trim(), stream);
  } catch {
    // Said below.
  }
  if (url === undefined || url.origin !== new URL(stream).origin || url.username !== "") {
    throw new Refused(502, "The relayer named an endpoint that is not its own");
  }
  return url.href;
}

/** A session of HTTP with SSE (revision 2024-11-05): it lives as long as its stream. */
export class SseSession extends UpstreamSession {
  readonly transport = "sse";
  readonly #waiting = new Map<RequestId, Waiting>();
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
      session.checkInitialized(await session.request(session.initializing(), signal));
      await session.notify("notifications/initialized");
      return session;
    } catch (error) {
      throw await session.abandoned(error);
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  /** Opens the stream and waits for the endpoint. */
  async #connect(): Promise<void> {
    const url = `${this.upstream.relayer}/api/mcp/sse`;
    const response = await send(this.upstream, {
      method: "GET",
      url,
      headers: { accept: "text/event-stream" },
      signal: this.stop.signal,
      inSession: false,
    });
    await new Promise<void>((resolve, reject) => {
      void this.#read(response, url, resolve).catch((cause: unknown) => {
        const error = cause instanceof Refused ? cause : brokenBy(cause, this.stop.signal);
        reject(error);
        this.end(error as Error);
      });
    });
  }

  async #read(response: Response, url: string, ready: () => void): Promise<never> {
    for await (const { name, data } of readEvents(chunksOf(response.body))) {
      if (name === "endpoint" && this.#endpoint === "") {
        this.#endpoint = endpointOf(data, url);
        ready();
      } else if (name === "message") this.#take(JSON.parse(data));
    }
    throw new Unanswered("The relayer ended the stream");
  }

  #take(message: unknown): void {
    if (isNotification(message)) return this.heard(message);
    if (!isResponse(message) || message.id === null) return;
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    waiting?.resolve(message);
    this.#closeIfIdle();
  }

  protected async post(message: RpcMessage, signal: AbortSignal): Promise<void> {
    const response = await send(this.upstream, {
      method: "POST",
      url: this.#endpoint,
      headers: {},
      message,
      signal,
      inSession: true,
    });
    await response.body?.cancel();
  }

  async request(outgoing: Outgoing, signal: AbortSignal): Promise<RpcResponse> {
    if (this.over) throw new SessionLost("The session has ended");
    const message = this.numbered(outgoing);
    const { id } = message;
    const both = AbortSignal.any([signal, this.stop.signal]);
    let abort = (): void => {};
    const answer = new Promise<RpcResponse>((resolve, reject) => {
      abort = () => reject(both.reason);
      both.addEventListener("abort", abort, { once: true });
      this.#waiting.set(id, { resolve, reject });
    });
    answer.catch(() => {}); // The POST may fail first.
    try {
      both.throwIfAborted();
      await this.post(message, both);
      return await answer;
    } catch (error) {
      if (signal.aborted) void this.notify("notifications/cancelled", { requestId: id });
      else if (!(error instanceof Refused) || error.status === 401) this.end(error as Error);
      throw error;
    } finally {
      both.removeEventListener("abort", abort);
      this.#waiting.delete(id);
      this.#closeIfIdle();
    }
  }

  #closeIfIdle(): void {
    if (this.closing && this.#waiting.size === 0) void this.close("now");
  }

  close(how: "idle" | "now"): Promise<void> {
    this.closing = true;
    if (how === "now" || this.#waiting.size === 0) {
      this.stop.abort(new GivenUp("The session is closed"));
      this.end(new GivenUp("The session is closed"));
    }
    return Promise.resolve();
  }
}
