import type { Logger } from "../log.ts";
import {
  MCP_NEW_SESSIONS_PER_IP_PER_MINUTE,
  MCP_SESSION_IDLE_SECONDS,
  MCP_SESSIONS,
  MCP_SESSIONS_PER_IP,
} from "../wire/limits.ts";

/** Limits of MCP sessions (docs/protocol.md#11 and #15); plain numbers that cross a pipe as JSON. */
export interface SidecarLimits {
  /** Sessions at a time, both transports together. */
  readonly sessions: number;
  /** Sessions of one client address. */
  readonly sessionsPerIp: number;
  /** New sessions of one client address in a sliding minute. */
  readonly newSessionsPerIpPerMinute: number;
  /** A Streamable session without request or open stream for so long is closed, seconds. */
  readonly idleSeconds: number;
  /** Pause between signs of life on event streams, seconds. */
  readonly keepaliveSeconds: number;
  /** Whether the alias names of docs/protocol.md#17.2 are accepted. */
  readonly aliases: boolean;
}

/** The defaults of docs/protocol.md#15. */
export const DEFAULT_SIDECAR_LIMITS: SidecarLimits = {
  sessions: MCP_SESSIONS,
  sessionsPerIp: MCP_SESSIONS_PER_IP,
  newSessionsPerIpPerMinute: MCP_NEW_SESSIONS_PER_IP_PER_MINUTE,
  idleSeconds: MCP_SESSION_IDLE_SECONDS,
  keepaliveSeconds: 10,
  aliases: true,
};

/** Options of `createSidecar`. */
export interface SidecarOptions {
  /** Base address of the relayer that tool calls go to. */
  readonly relayerUrl: string;
  /** Secret shared with the relayer: whoever hands a request over without a proof sends it along. */
  readonly token: string;
  /**
   * What the relayer is called among several, without a period: session ids begin with it. Absent
   * where there is one.
   */
  readonly name?: string;
  /** Where people find their dashboard, which sources of research lead to. */
  readonly webUrl?: string;
  /** Replaces defaults. */
  readonly limits?: Partial<SidecarLimits>;
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number;
  /** Waits some milliseconds; rejects when the signal aborts. Default: a timer. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Silent by default. */
  readonly logger?: Logger;
  /**
   * Sends requests to the relayer; default: the platform's `fetch`, over which the relayer counts them
   * as this machine's. In the relayer's process its `fetchInternal` counts them as their clients'.
   */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** Sends the delegate key where the relayer decrypts, for threshold ciphers; default `false`. */
  readonly sendDelegateKey?: boolean;
}

/** Numbers of a running sidecar. */
export interface SidecarStats {
  /** Open legacy SSE sessions. */
  readonly sse: number;
  /** Open Streamable HTTP sessions. */
  readonly streamable: number;
  /** Both together, with those that are being started. */
  readonly sessions: number;
}
