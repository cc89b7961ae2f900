import { Deadline } from "../../../src/deadline.ts";
import { Refused, SessionLost, Unanswered } from "../failures.ts";
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
  /** `authorization` and `x-svc-account-id`. */
  readonly headers: Readonly<Record<string, string>>;
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

/** What the sessions of both transports have. */
export abstract class UpstreamSession implements Session {
  abstract readonly transport: "http" | "sse";
  readonly ended: Promise<Error>;
  protected readonly upstream: Upstream;
  protected readonly heard: Heard;
  /** Aborted when the session is closed. */
  protected readonly stop = new AbortController();
  protected closing = false;
  /** Whether {@linkcode Session.ended} has settled. */
  protected over = false;
  readonly #end: (reason: Error) => void;
  #nextId = 0;

  constructor(upstream: Upstream, heard: Heard) {
    this.upstream = upstream;
    this.heard = heard;
    const { promise, resolve } = Promise.withResolvers<Error>();
    this.ended = promise;
    this.#end = resolve;
  }

  abstract request(outgoing: Outgoing, signal: AbortSignal): Promise<RpcResponse>;
  abstract close(how: "idle" | "now"): Promise<void>;
  /** Sends what gets no answer. */
  protected abstract post(message: RpcMessage, signal: AbortSignal): Promise<void>;

  /** Settles {@linkcode Session.ended}. */
  protected end(reason: Error): void {
    this.over = true;
    this.#end(reason);
  }

  protected numbered({ method, params }: Outgoing): RpcRequest {
    const id = this.#nextId++;
    return { jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) };
  }

  protected initializing(): Outgoing {
    return {
      method: "initialize",
      params: {
        protocolVersion: UPSTREAM_REVISION,
        // None: nothing of the host's is offered to the relayer, so that it has nothing to ask for.
        capabilities: {},
        clientInfo: { name: "svc-mcp", version: this.upstream.version },
      },
    };
  }

  /** @throws {Refused} when the relayer refuses the session. */
  protected checkInitialized({ error }: RpcResponse): void {
    if (error === undefined) return;
    throw new Refused(502, `The relayer refused the session: ${error.message}`);
  }

  /** Closes a session that could not be opened; answers why. */
  protected async abandoned(error: unknown): Promise<unknown> {
    await this.close("now");
    return error instanceof SessionLost ? new Unanswered(error.message) : error;
  }

  /** Posts a message, for a short time; it is of use only if it arrives. */
  protected async tryPost(message: RpcMessage): Promise<void> {
    const deadline = new Deadline(SHORT_MS);
    await this.post(message, deadline.signal).catch(() => {});
    deadline.close();
  }

  async notify(method: string, params?: Members): Promise<void> {
    if (!this.over && !this.stop.signal.aborted) await this.tryPost(notification(method, params));
  }
}
