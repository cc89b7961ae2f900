import type { ErrorCode } from "../../src/errors.ts";
import type { BackendHealth } from "../../src/interfaces/mod.ts";
import { unavailable, UpstreamFailure } from "./upstream_failure.ts";

/** Numbers of a {@linkcode CircuitBreaker}. */
export interface CircuitBreakerOptions {
  /** Failures in a row that open it; 5 when absent. */
  readonly failures?: number;
  /** First pause in milliseconds; doubled by each probe that fails. 5 s when absent. */
  readonly pauseMs?: number;
  /** Longest pause in milliseconds; 60 s when absent. */
  readonly maxPauseMs?: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/**
 * Keeps calls from a server that does not work. After some failures in a row calls fail at once;
 * when the pause is over one call is let through as a probe, and its outcome closes the breaker or
 * starts a longer pause. A pause the server asked for itself starts at once.
 */
export class CircuitBreaker {
  readonly #failures: number;
  readonly #pauseMs: number;
  readonly #maxPauseMs: number;
  readonly #now: () => number;
  readonly #code: ErrorCode;
  #inARow = 0;
  #pause: number;
  #until = 0;
  /** When the pause was last set. */
  #setAt = 0;
  #probing = false;
  /** Raised when a pause begins: calls from before it say nothing about what is after it. */
  #pauses = 0;
  #reason = "";

  /** Starts closed; `code` is the code of its errors. */
  constructor(code: ErrorCode, options: CircuitBreakerOptions = {}) {
    this.#code = code;
    this.#failures = options.failures ?? 5;
    this.#pauseMs = this.#pause = options.pauseMs ?? 5_000;
    this.#maxPauseMs = options.maxPauseMs ?? 60_000;
    this.#now = options.now ?? Date.now;
  }

  /** What the last calls say about the server. */
  get health(): BackendHealth {
    if (this.#inARow === 0) return { status: "ok" };
    const status = this.#inARow >= this.#failures ? "down" : "degraded";
    return { status, reason: this.#reason };
  }

  /**
   * Lets a call through; it must then report its outcome by one of the other methods.
   * @returns what to report it with.
   * @throws {SvcError} with `retryAfter` while the breaker is open.
   */
  enter(): number {
    const now = this.#now();
    // A clock that was put back makes no pause longer than it was meant to be.
    const left = now < this.#setAt ? 0 : this.#until - now;
    if (left > 0 || this.#probing) {
      const retryAfter = Math.max(1, Math.ceil(left / 1000));
      throw unavailable(this.#code, new UpstreamFailure(this.#reason, { retryAfter }));
    }
    this.#probing = this.#inARow >= this.#failures;
    return this.#pauses;
  }

  succeed(call: number): void {
    if (call !== this.#pauses) return;
    this.#inARow = 0;
    this.#until = 0;
    this.#pause = this.#pauseMs;
    this.#probing = false;
  }

  /** The call says nothing about the server: it was given up, or its input was refused. */
  leave(call: number): void {
    if (call === this.#pauses) this.#probing = false;
  }

  fail(call: number, { message, retryAfter }: UpstreamFailure): void {
    let pause = (retryAfter ?? 0) * 1000;
    if (call === this.#pauses) {
      this.#probing = false;
      this.#inARow++;
      this.#reason = message;
      if (this.#inARow >= this.#failures) {
        pause = Math.max(pause, this.#pause);
        this.#pause = Math.min(this.#pause * 2, this.#maxPauseMs);
      }
      if (pause > 0) this.#pauses++;
    }
    const now = this.#now();
    this.#until = now < this.#setAt ? now + pause : Math.max(this.#until, now + pause);
    this.#setAt = now;
  }
}
