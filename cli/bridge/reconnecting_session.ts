import { abortable, pause } from "../../src/deadline.ts";
import type { Logger } from "../../src/log.ts";
import { GivenUp, reasonOf, Refused, SessionLost } from "./failures.ts";
import type { Members } from "./json_rpc.ts";
import type { Session } from "./sessions/session.ts";

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 15_000;
/** A session that lived for less than this counts as a failed attempt, in milliseconds. */
const SETTLED_MS = 5000;

/**
 * Pause before attempt `n` (from 0): 500 ms · 2^n, at most 15 s, of which jitter takes up to half.
 *
 * @param random From 0 to 1.
 */
export function reconnectDelay(n: number, random: number): number {
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** n) * (0.5 + random / 2);
}

export interface ReconnectingSessionOptions {
  readonly open: (signal: AbortSignal) => Promise<Session>;
  readonly logger: Logger;
  /** From 0 to 1; default `Math.random`. */
  readonly random?: () => number;
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number;
  /** Waits some milliseconds, or until the signal aborts; default: a timer. */
  readonly pause?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
}

/** Keeps one session open: endless reconnection, until it is closed. */
export class ReconnectingSession {
  readonly #options: ReconnectingSessionOptions;
  readonly #now: () => number;
  readonly #stop = new AbortController();
  #session: Session | undefined;
  #connecting: Promise<void> | undefined;
  /** Ends the pause before the next attempt. */
  #awake = new AbortController();
  #attempts = 0;
  #lastAttempt = -Infinity;
  #failure: Error | undefined;

  /** Connects at the first {@linkcode connect} or {@linkcode session}. */
  constructor(options: ReconnectingSessionOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** Why there is no session, as far as is known. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Passes a notification on, if there is a connection. */
  notify(method: string, params: Members | undefined): void {
    void this.#session?.notify(method, params);
  }

  /** Starts to connect, unless it is connected or on its way. */
  connect(): void {
    if (this.#session !== undefined || this.#stop.signal.aborted) return;
    if (this.#connecting !== undefined) return;
    const connecting = this.#reconnect().finally(() => {
      if (this.#connecting === connecting) this.#connecting = undefined;
    });
    this.#connecting = connecting;
  }

  /**
   * The session, as soon as there is one.
   *
   * @throws {Refused} when trying again is of no use.
   * @throws {Error} the signal's reason, or that the connection is closed.
   */
  async session(signal: AbortSignal): Promise<Session> {
    for (;;) {
      if (this.#stop.signal.aborted) throw this.#stop.signal.reason;
      signal.throwIfAborted();
      if (this.#session !== undefined) return this.#session;
      const waited = this.#connecting !== undefined;
      this.connect();
      // Somebody waits: the pause is cut short, but attempts stay half a second apart.
      if (waited) this.#awake.abort();
      // Until the attempts under way have ended, or the signal aborts.
      await abortable(this.#connecting ?? Promise.resolve(), signal).catch(() => {});
      const { failure } = this;
      if (this.#session === undefined && failure instanceof Refused && failure.isFinal) {
        throw failure;
      }
    }
  }

  async #reconnect(): Promise<void> {
    const { signal } = this.#stop;
    const { logger } = this.#options;
    while (!signal.aborted) {
      await this.#waitForTurn();
      if (signal.aborted) return;
      this.#lastAttempt = this.#now();
      try {
        const session = await this.#options.open(signal);
        if (signal.aborted) return await session.close("now");
        // First, because a session that ends at once starts the next attempt.
        this.#connecting = undefined;
        return this.#adopt(session);
      } catch (error) {
        if (signal.aborted) return;
        this.#attempts++;
        this.#failure = error as Error;
        const status = error instanceof Refused ? error.status : undefined;
        const attempts = this.#attempts;
        // Days without a relayer fill no log.
        const log = attempts === 1 ? logger.warn : logger.debug;
        log("relayer not connected", { reason: reasonOf(error), status, attempts });
        if (error instanceof Refused && error.isFinal) {
          this.#attempts = 0; // The next call tries again at once.
          return;
        }
      }
    }
  }

  /** The pause before an attempt. */
  async #waitForTurn(): Promise<void> {
    const { signal } = this.#stop;
    const { random = Math.random, pause: wait = pause } = this.#options;
    if (this.#attempts > 0) {
      const asked = this.#failure instanceof Refused ? (this.#failure.retryAfter ?? 0) * 1000 : 0;
      const delay = reconnectDelay(this.#attempts - 1, random());
      const longest = Math.min(Math.max(asked, delay), LONGEST_DELAY_MS);
      this.#awake = new AbortController();
      await wait(longest, AbortSignal.any([signal, this.#awake.signal]));
      if (!this.#awake.signal.aborted) return;
    }
    const left = this.#lastAttempt + FIRST_DELAY_MS - this.#now();
    if (left > 0) await wait(left, signal);
  }

  #adopt(session: Session): void {
    const { logger } = this.#options;
    const since = this.#now();
    this.#session = session;
    this.#failure = undefined;
    logger.info("relayer connected", { state: session.transport });
    void session.ended.then((reason) => {
      if (this.#session !== session) return;
      this.#session = undefined;
      this.#failure = reason;
      // One that ends at once is no better than one that does not open.
      const settled = this.#now() - since >= SETTLED_MS;
      this.#attempts = settled && reason instanceof SessionLost
        ? 0
        : settled
        ? 1
        : this.#attempts + 1;
      logger.info("relayer connection lost", { reason: reasonOf(reason) });
      void session.close("idle");
      const rejected = reason instanceof Refused && reason.isFinal;
      if (!(reason instanceof GivenUp) && !rejected) this.connect();
    });
  }

  /**
   * Gives the connection up: nothing is sent any more. `idle` lets requests under way come to their end.
   */
  async close(how: "idle" | "now"): Promise<void> {
    this.#stop.abort(new GivenUp("The connection was given up"));
    const session = this.#session;
    this.#session = undefined;
    // One that is being opened is closed, too, before the program may end.
    await Promise.all([session?.close(how), this.#connecting]);
  }
}
