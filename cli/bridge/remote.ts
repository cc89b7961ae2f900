import { Deadline } from "../../src/deadline.ts";
import { type Credentials, SvcClient } from "../../src/client/mod.ts";
import { HEADER } from "../../src/wire/headers.ts";
import type { Settings, TransportChoice } from "../settings.ts";
import { Bearers } from "./bearers.ts";
import type { RpcResponse } from "./json_rpc.ts";
import { ReconnectingSession, type ReconnectingSessionOptions } from "./reconnecting_session.ts";
import { Refused, Unanswered } from "./failures.ts";
import { callRelayer, type PreparedCall } from "./remote_call.ts";
import type { Heard, Session, Upstream } from "./sessions/session.ts";
import { SseSession } from "./sessions/sse_session.ts";
import { StreamableSession } from "./sessions/streamable.ts";

/** Longest time for `GET /version`, in milliseconds. */
const VERSION_MS = 3000;

/** Longest time until a session is open, in milliseconds. */
const OPEN_MS = 10_000;

/** Answers of a relayer that does not know Streamable HTTP. */
const NOT_STREAMABLE: readonly number[] = [404, 405, 501];

/**
 * Opens a session; `auto` tries Streamable HTTP, then HTTP with SSE when the relayer answers 404,
 * 405 or 501.
 *
 * @throws {Refused} with the status of the relayer's answer.
 * @throws {Unanswered} when there is none.
 */
async function openSession(
  upstream: Upstream,
  choice: TransportChoice,
  heard: Heard,
  signal: AbortSignal,
): Promise<Session> {
  const late = (): Error => new Unanswered("The relayer did not open a session in time");
  const deadline = new Deadline(OPEN_MS, signal, late);
  try {
    if (choice === "sse") return await SseSession.open(upstream, heard, deadline.signal);
    try {
      return await StreamableSession.open(upstream, heard, deadline.signal);
    } catch (error) {
      const old = error instanceof Refused && NOT_STREAMABLE.includes(error.status);
      if (choice === "http" || !old) throw error;
    }
    return await SseSession.open(upstream, heard, deadline.signal);
  } finally {
    deadline.close();
  }
}

interface RemoteOptions
  extends
    Pick<Upstream, "version" | "fetch">,
    Pick<ReconnectingSessionOptions, "logger" | "pause"> {
  readonly settings: Pick<Settings, "relayer" | "transport" | "isForeign" | "mayHaveKey">;
  readonly credentials: Pick<Credentials, "delegatePrivateKey" | "accountId">;
  readonly heard: Heard;
}

/** A relayer, called with one key. */
export class Remote extends ReconnectingSession {
  readonly #options: RemoteOptions;
  #mayManage: Promise<boolean> | undefined;
  #managed = false;

  constructor(options: RemoteOptions) {
    const { settings, credentials, heard, logger, version, fetch, pause } = options;
    const { relayer, isForeign, mayHaveKey } = settings;
    const bearers = new Bearers({ relayer, credentials, isForeign, mayHaveKey, fetch });
    const upstream: Upstream = {
      relayer,
      headers: async (signal) => ({
        authorization: `Bearer ${await bearers.current(signal)}`,
        [HEADER.mcpAccountId]: credentials.accountId,
      }),
      version,
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        if (response.status === 401) bearers.forget();
        return response;
      },
    };
    const open = (signal: AbortSignal) => {
      // A relayer that made no tokens may have been upgraded.
      if (bearers.isKey) bearers.forget();
      return openSession(upstream, settings.transport, heard, signal);
    };
    super({ open, logger, pause });
    this.#options = options;
  }

  /** Calls; throws what {@linkcode callRelayer} throws. */
  call(call: PreparedCall, signal: AbortSignal): Promise<RpcResponse> {
    return callRelayer({ ...call, signal }, {
      connection: this,
      honoursKeys: () => this.#honoursKeys(),
      logger: this.#options.logger,
    });
  }

  /** Whether the key may correct and forget memories; `false` when the relayer does not say. */
  mayManage(): Promise<boolean> {
    this.#mayManage ??= this.#askPermissions().catch(() => {
      // It may say so the next time.
      this.#mayManage = undefined;
      return false;
    });
    return this.#mayManage;
  }

  /**
   * To be called when the relayer rejects the key: whatever it could, it cannot now. Answers whether
   * it was known to manage memories.
   */
  rejected(): boolean {
    const could = this.#managed;
    this.#managed = false;
    this.#mayManage = undefined;
    return could;
  }

  async #askPermissions(): Promise<boolean> {
    const { settings: { isForeign, mayHaveKey } } = this.#options;
    if (isForeign && !mayHaveKey) return false;
    const { key } = await this.#client().account();
    return this.#managed = key.permissions.includes("manage");
  }

  #client(): SvcClient {
    const { settings, credentials: { delegatePrivateKey, accountId }, fetch } = this.#options;
    return new SvcClient({
      baseUrl: settings.relayer,
      privateKey: delegatePrivateKey,
      accountId,
      fetch,
      timeoutMs: VERSION_MS,
      retry: { attempts: 1 },
    });
  }

  /** Whether the relayer stores a write with a key once; `false` when it does not say. */
  async #honoursKeys(): Promise<boolean> {
    const client = this.#client();
    const answer = await client.version().catch(() => undefined);
    // Another program may answer something else.
    return answer?.featureFlags?.["remember.idempotencyKey"] === true;
  }
}
