import { pause } from "../deadline.ts";
import { SvcError } from "../errors.ts";
import { type Logger, silentLogger } from "../log.ts";
import { HEADER } from "../wire/headers.ts";
import { type Bearer, readBearer, readSessionHeaders, type SessionHeaders } from "./bearer.ts";
import type { ServerExtension } from "./mcp_server.ts";
import { DEFAULT_SIDECAR_LIMITS, type SidecarLimits, type SidecarOptions } from "./options.ts";
import { Principal } from "./principal.ts";
import { readProfile } from "./tool_profile.ts";
import type { ToolProfile } from "../wire/table/tools.ts";
import { SessionCaps } from "./sessions/session_caps.ts";
import { Confirmations } from "./tools/confirmations.ts";

/** What a session is opened with besides credentials. */
export interface SessionSetting extends SessionHeaders {
  /** Which tools it has. */
  readonly profile: ToolProfile;
}

export interface AdmittedSession {
  readonly principal: Principal;
  readonly headers: SessionSetting;
  /** Address of the client. */
  readonly address: string;
  /** Gives its slot back. */
  readonly release: () => void;
}

/** What both session transports share: options, clock, caps, and who is let in. */
export class SessionAdmission {
  readonly limits: SidecarLimits;
  readonly logger: Logger;
  readonly caps: SessionCaps;
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Of all sessions: an answer may come by another one. */
  readonly confirmations: Confirmations;

  /** `extension` adds to every server. */
  constructor(readonly options: SidecarOptions, readonly extension?: ServerExtension) {
    this.limits = { ...DEFAULT_SIDECAR_LIMITS, ...options.limits };
    this.logger = options.logger ?? silentLogger;
    this.now = options.now ?? Date.now;
    this.sleep = options.sleep ?? pause;
    this.confirmations = new Confirmations(this.now);
    this.caps = new SessionCaps(this.limits, this.now);
  }

  /** A new session's id: 128 random bits in hex, behind the relayer's name where it has one. */
  sessionId(): string {
    const { name } = this.options;
    const random = crypto.getRandomValues(new Uint8Array(16)).toHex();
    return name === undefined ? random : `${name}.${random}`;
  }

  /** Credentials of a request, well formed. */
  bearer(request: Request): Bearer {
    return readBearer(request.headers, this.limits.aliases);
  }

  /** What a session is opened with besides credentials: its headers, and its address. */
  sessionHeaders(request: Request): SessionSetting {
    const headers = readSessionHeaders(request.headers, this.limits.aliases);
    return { ...headers, profile: readProfile(request.url) };
  }

  /**
   * Lets a new session in: header shape, caps, account, in that order. A start that fails gives
   * its slot back and stays counted in the minute.
   *
   * @throws {SvcError} what it is refused with.
   */
  async admit(request: Request): Promise<AdmittedSession> {
    const bearer = this.bearer(request);
    const headers = this.sessionHeaders(request);
    const address = clientIpOf(request);
    const release = this.caps.start(address);
    try {
      const principal = new Principal(bearer, address, this.options);
      await principal.check();
      if (request.signal.aborted) throw new SvcError("request_timeout");
      return { principal, headers, address, release };
    } catch (error) {
      release();
      throw error;
    }
  }
}

/** Address of the client, as the relayer saw it. */
export function clientIpOf(request: Request): string {
  return request.headers.get(HEADER.clientIp) ?? "";
}
