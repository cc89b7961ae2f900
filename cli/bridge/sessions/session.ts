import type { Members, RpcNotification, RpcResponse } from "../json_rpc.ts";

/** Where a session leads, and with which credentials. */
export interface Upstream {
  /** Base address of the relayer, no trailing slash. */
  readonly relayer: string;
  /** `authorization` and `x-svc-account-id`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Version of this package. */
  readonly version: string;
  /** The platform's `fetch`, or a test's. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
}

/** A request on its way to the relayer; the session chooses the id. */
export interface Outgoing {
  /** Method. */
  readonly method: string;
  /** Parameters. */
  readonly params?: Members | undefined;
}

/** Takes what the relayer says besides answers. */
export type Heard = (message: RpcNotification) => void;

/** An MCP session at the relayer, initialised. */
export interface Session {
  /** Which transport it uses. */
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
  /** Sends a notification; failures are nobody's business. */
  notify(method: string, params?: Members): Promise<void>;
  /** Ends it as soon as no request waits, or at once. */
  close(how: "idle" | "now"): Promise<void>;
}

/** Newest revision the bridge speaks to relayers. */
export const UPSTREAM_REVISION = "2025-11-25";

/** Parameters of `initialize`. */
export function initializeParams(version: string): Members {
  return {
    protocolVersion: UPSTREAM_REVISION,
    // None: nothing of the host's is offered to the relayer, so that it has nothing to ask for.
    capabilities: {},
    clientInfo: { name: "svc-mcp", version },
  };
}
