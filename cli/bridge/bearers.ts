import { abortable } from "../../src/deadline.ts";
import {
  type Credentials,
  SvcAnswerError,
  SvcClient,
  SvcConnectionError,
  SvcError,
} from "../../src/client/mod.ts";
import { Refused, Unanswered } from "./failures.ts";
import type { Upstream } from "./sessions/session.ts";

/** A token is renewed when it has less left than this, or than a third of its time; milliseconds. */
const EARLY_MS = 300_000;
/** With less left, a request waits for the new one; milliseconds. */
const LEAST_MS = 5_000;
/** Longest wait for a token, in milliseconds. */
const ANSWER_MS = 10_000;

export interface BearersOptions extends Pick<Upstream, "fetch"> {
  /** Base address of the relayer. */
  readonly relayer: string;
  readonly credentials: Pick<Credentials, "delegatePrivateKey" | "accountId">;
  /** Whether the relayer is another one than that of the credentials. */
  readonly isForeign: boolean;
  /** Whether the relayer may have the key where it makes no tokens. */
  readonly mayHaveKey: boolean;
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number;
}

/** What requests show, until when. */
interface Shown {
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly renewAt: number;
  readonly endsAt: number;
}

/**
 * What the relayer is shown on the MCP routes: a session token, so that the private key stays here. A
 * relayer that makes none is shown the key itself, if it may have it.
 */
export class Bearers {
  readonly #options: BearersOptions;
  readonly #client: SvcClient;
  readonly #now: () => number;
  #shown: Shown | undefined;
  #asking: Promise<Shown> | undefined;

  /** Asks for nothing yet. */
  constructor(options: BearersOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    const { relayer, credentials, isForeign, fetch } = options;
    this.#client = new SvcClient({
      baseUrl: relayer,
      privateKey: credentials.delegatePrivateKey,
      accountId: credentials.accountId,
      isForeign,
      fetch,
      timeoutMs: ANSWER_MS,
      retry: { attempts: 1 },
    });
  }

  /**
   * The bearer of a request.
   *
   * @throws {Refused} when the relayer refuses a token, or makes none and may not have the key.
   * @throws {Unanswered} when there is no answer. When the signal aborted, its reason is thrown.
   */
  async current(signal: AbortSignal): Promise<string> {
    const shown = this.#shown;
    const now = this.#now();
    if (shown !== undefined && now < shown.renewAt) return shown.text;
    const asking = this.#asking ??= this.#ask().finally(() => this.#asking = undefined);
    asking.catch(() => {}); // whoever waits hears of it
    if (shown !== undefined && now < shown.endsAt - LEAST_MS) return shown.text;
    return (await abortable(asking, signal)).text;
  }

  /** Asks anew before the next request: the relayer refused the last one, or may be another. */
  forget(): void {
    this.#shown = undefined;
  }

  /** Whether the key itself is shown. */
  get isKey(): boolean {
    return this.#shown?.text === this.#options.credentials.delegatePrivateKey;
  }

  async #ask(): Promise<Shown> {
    const { relayer, mayHaveKey } = this.#options;
    try {
      const { token, expires_in } = await this.#client.call("POST /api/session-token", {
        body: { audience: new URL(relayer).origin },
        decrypts: true,
      });
      const now = this.#now();
      const endsAt = now + expires_in * 1000;
      const renewAt = endsAt - Math.min(EARLY_MS, (endsAt - now) / 3);
      return this.#shown = { text: token, renewAt, endsAt };
    } catch (error) {
      if (!hasNoTokens(error, mayHaveKey)) throw refusalOf(error);
      return this.#shown = this.#key();
    }
  }

  #key(): Shown {
    const { credentials, isForeign, mayHaveKey, relayer } = this.#options;
    if (!mayHaveKey) {
      const why = isForeign
        ? "it is not the one where you signed in"
        : "others on the network can read what is sent over plain http";
      throw new Refused(
        426,
        `The relayer ${relayer} makes no session tokens, and ${why}: your key is not sent there. ` +
          "Start with --send-key if it may have your key",
        "upgrade_required",
      );
    }
    return { text: credentials.delegatePrivateKey, renewAt: Infinity, endsAt: Infinity };
  }
}

/**
 * Whether a relayer makes no tokens: one of an earlier version, or one that does not know by what
 * address it is called, behind a proxy that hides it.
 */
function hasNoTokens(error: unknown, mayHaveKey: boolean): boolean {
  if (error instanceof SvcError && error.code === "audience_mismatch") return mayHaveKey;
  if (!(error instanceof SvcError || error instanceof SvcAnswerError)) return false;
  return error.status === 404 || error.status === 405 || error.status === 501;
}

/** What failed, in the words of sessions. */
function refusalOf(error: unknown): unknown {
  if (error instanceof SvcError) {
    return new Refused(error.status, error.message, error.code, error.retryAfter);
  }
  if (error instanceof SvcAnswerError) {
    // A success of another program is none.
    return new Refused(error.status < 400 ? 502 : error.status, error.message, error.code);
  }
  if (error instanceof SvcConnectionError) return new Unanswered(error.message, { cause: error });
  return error;
}
