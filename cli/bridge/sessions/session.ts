import { Deadline } from "../../../src/deadline.ts";
import { GivenUp, refusalOf, Refused, SessionLost, Unanswered } from "../failures.ts";
import {
  type Members,
  notification,
  type RpcMessage,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from "../json_rpc.ts";

/** Longest wait for a refusal's body, for a goodbye and the like, in milliseconds. */
export const SHORT_MS = 2000;

/** Where a session leads, and with which credentials. */
export interface Upstream {
  /** Base address of the relayer, no trailing slash. */
  readonly relayer: string;
  /** `authorization` and `x-svc-account-id` of the next request. */
  readonly headers: (signal: AbortSignal) => Promise<Readonly<Record<string, string>>>;
  readonly version: string;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
}

/** A request on its way to the relayer; the session chooses the id. */
export interface Outgoing {
  readonly method: string;
  readonly params?: Members | undefined;
}

/** Receives the relayer's notifications. */
export type Heard = (message: RpcNotification) => void;

/** An MCP session at the relayer, initialised. */
export interface Session {
  readonly transport: "http" | "sse";
  /** Settles when the session is over, with the reason; never rejects. */
  readonly ended: Promise<Error>;
  /**
   * Sends a request and waits for its answer. When the signal aborts, the relayer is told that the
   * request is cancelled.
   *
   * @throws {Refused} when the relayer refused it.
   * @throws {SessionLost} when the session is gone; the request was not taken.
   * @throws {Unanswered} when the connection broke.
   */
  request(outgoing: Outgoing, signal: AbortSignal): Promise<RpcResponse>;
  /** Sends a notification; failures are ignored. */
  notify(method: string, params?: Members): Promise<void>;
  /** Ends the session at once, or (`idle`) as soon as no request waits. */
  close(how: "idle" | "now"): Promise<void>;
}

/** Newest revision the bridge speaks to relayers. */
export const UPSTREAM_REVISION = "2025-11-25";

/** What is sent: a message, or what opens (`GET`) or ends (`DELETE`) a stream or a session. */
export type Method = "GET" | "POST" | "DELETE";

/** Where a request of a session goes. */
export interface Route {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether 404 means that the session is gone. */
  readonly inSession: boolean;
}

/** What a failed connection means: the abort's reason, or that nobody answered. */
export function brokenBy(cause: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  return new Unanswered("The connection to the relayer failed", { cause });
}

/** What the sessions of both transports have. */
export abstract class UpstreamSession implements Session {
  abstract readonly transport: "http" | "sse";
  readonly ended: Promise<Error>;
  protected readonly upstream: Upstream;
  protected readonly heard: Heard;
  /** Aborted when the session is closed. */
  protected readonly stop = new AbortController();
  /** Whether {@linkcode Session.ended} has settled. */
  protected over = false;
  readonly #end: (reason: Error) => void;
  #nextId = 0;
  /** Requests that wait for their answers. */
  #busy = 0;
  #closing = false;

  constructor(upstream: Upstream, heard: Heard) {
    this.upstream = upstream;
    this.heard = heard;
    const { promise, resolve } = Promise.withResolvers<Error>();
    this.ended = promise;
    this.#end = resolve;
  }

  protected abstract route(method: Method): Route;
  /** Sends a request and waits for its answer, until the signal aborts. */
  protected abstract exchange(request: RpcRequest, signal: AbortSignal): Promise<RpcResponse>;
  /** Tells the relayer that the session ends, unless it notices by itself. */
  protected abstract leave(): Promise<void>;

  /** Settles {@linkcode Session.ended}. */
  protected end(reason: Error): void {
    this.over = true;
    this.#end(reason);
  }

  #numbered({ method, params }: Outgoing): RpcRequest {
    return {
      jsonrpc: "2.0",
      id: this.#nextId++,
      method,
      ...(params === undefined ? {} : { params }),
    };
  }

  /** @throws {Refused} when the relayer refuses the session. */
  protected async initialize(signal: AbortSignal): Promise<RpcResponse> {
    const request = this.#numbered({
      method: "initialize",
      params: {
        protocolVersion: UPSTREAM_REVISION,
        // None: nothing of the host's is offered to the relayer, so that it has nothing to ask for.
        capabilities: {},
        clientInfo: { name: "svc-mcp", version: this.upstream.version },
      },
    });
    const answer = await this.exchange(request, AbortSignal.any([signal, this.stop.signal]));
    if (answer.error === undefined) return answer;
    throw new Refused(502, `The relayer refused the session: ${answer.error.message}`);
  }

  /** Closes a session that could not be opened; answers why. */
  protected async abandoned(error: unknown): Promise<unknown> {
    await this.close("now");
    return error instanceof SessionLost ? new Unanswered(error.message) : error;
  }

  /**
   * Sends; a redirection is an error like others.
   *
   * @throws {Refused} the relayer answered with an error status.
   * @throws {SessionLost} it does not know the session.
   * @throws {Unanswered} there was no answer. When the signal aborted, its reason is thrown.
   */
  protected async send(
    method: Method,
    signal: AbortSignal,
    message?: RpcMessage,
  ): Promise<Response> {
    const { url, headers, inSession } = this.route(method);
    const body = message === undefined ? {} : { body: JSON.stringify(message) };
    const type = message === undefined ? {} : { "content-type": "application/json" };
    const credentials = await this.upstream.headers(signal);
    let response: Response;
    try {
      response = await this.upstream.fetch(url, {
        method,
        headers: { ...credentials, ...type, ...headers },
        // Not followed: the key would go along.
        redirect: "manual",
        signal,
        ...body,
      });
    } catch (cause) {
      throw brokenBy(cause, signal);
    }
    if (response.ok) return response;
    const refusal = await refusalOf(response);
    if (inSession && response.status === 404) throw new SessionLost("The session has ended");
    throw refusal;
  }

  /** Sends what gets no answer. */
  protected async post(message: RpcMessage, signal: AbortSignal): Promise<void> {
    const response = await this.send("POST", signal, message);
    await response.body?.cancel();
  }

  /** Sends, for a short time, what is of use only if it arrives. */
  protected async tryTo(send: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const deadline = new Deadline(SHORT_MS);
    await send(deadline.signal).catch(() => {});
    deadline.close();
  }

  async request(outgoing: Outgoing, signal: AbortSignal): Promise<RpcResponse> {
    if (this.over) throw new SessionLost("The session has ended");
    const request = this.#numbered(outgoing);
    this.#busy++;
    try {
      return await this.exchange(request, AbortSignal.any([signal, this.stop.signal]));
    } catch (error) {
      if (signal.aborted) void this.notify("notifications/cancelled", { requestId: request.id });
      // The relayer closes the session of a key it does not take any more.
      else if (!(error instanceof Refused) || error.status === 401) this.end(error as Error);
      throw error;
    } finally {
      this.#busy--;
      if (this.#closing && this.#busy === 0) void this.close("now");
    }
  }

  async notify(method: string, params?: Members): Promise<void> {
    if (this.over || this.stop.signal.aborted) return;
    await this.tryTo((signal) => this.post(notification(method, params), signal));
  }

  async close(how: "idle" | "now"): Promise<void> {
    this.#closing = true;
    if (how === "idle" && this.#busy > 0 || this.stop.signal.aborted) return;
    const gone = this.over;
    const reason = new GivenUp("The session is closed");
    this.stop.abort(reason);
    this.end(reason);
    if (!gone) await this.leave();
  }
}
