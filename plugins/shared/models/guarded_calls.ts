import { Deadline } from "../../../src/deadline.ts";
import type { BackendHealth, CallOptions } from "../../../src/interfaces/mod.ts";
import type { FileContext } from "../../../src/interfaces/plugin.ts";
import { boundedFetch } from "./bounded_fetch.ts";
import { CircuitBreaker, type CircuitBreakerOptions } from "../circuit_breaker.ts";
import {
  failureOf,
  type ModelErrorCode,
  unavailable,
  UpstreamFailure,
} from "../upstream_failure.ts";

/** How calls of a model server are bounded. */
export interface GuardOptions extends CircuitBreakerOptions {
  /** Longest call in milliseconds, from the first byte sent to the last one read. */
  readonly timeoutMs: number;
  /** Most bytes of an answer. */
  readonly maxBytes: number;
  /** Changes the headers of a request. */
  readonly prepare?: (headers: Headers) => void;
}

export interface RunOptions extends CallOptions {
  /** Longest call in milliseconds, where that is less than usual. */
  readonly timeoutMs?: number;
}

/** A model of a server, and how it is called. */
export interface ModelOptions {
  /** Name of the model. */
  readonly model: string;
  /** Length of the vectors; the model's own when absent. */
  readonly dimensions?: number | undefined;
  /** Deadlines and breaker where the defaults do not fit. */
  readonly bounds?: Partial<GuardOptions>;
  /** Where to keep what was found out about the model, and where notes go. */
  readonly context?: FileContext;
}

/** For a plugin that is opened without a context. */
export const SILENT: FileContext = { log() {} };

/** Work of one call with a `fetch` made for it. */
export type GuardedWork<T> = (fetch: typeof globalThis.fetch) => Promise<T>;

/** Every call of one model server: a deadline, a byte cap and a circuit breaker around it. */
export class GuardedCalls {
  readonly #code: ModelErrorCode;
  readonly #options: GuardOptions;
  readonly #breaker: CircuitBreaker;
  readonly #closing = new AbortController();

  /** `code` is the code of its errors. */
  constructor(code: ModelErrorCode, options: GuardOptions) {
    this.#code = code;
    this.#options = options;
    this.#breaker = new CircuitBreaker(code, options);
  }

  /** Milliseconds since the epoch. */
  get now(): number {
    return (this.#options.now ?? Date.now)();
  }

  /** What the last calls say about the server. */
  get health(): BackendHealth {
    return this.#breaker.health;
  }

  /**
   * Runs one call. What the work throws counts as a failure of the server, unless the server
   * refused the input.
   *
   * @throws {SvcError} the code of these calls, with what the server asked for as `retryAfter`; the
   * reason of the signal when that ended the call.
   */
  async run<T>(
    work: GuardedWork<T>,
    { signal, timeoutMs = Infinity }: RunOptions = {},
  ): Promise<T> {
    signal?.throwIfAborted();
    if (this.#closing.signal.aborted) throw this.#closing.signal.reason;
    const call = this.#breaker.enter();
    const { maxBytes, prepare, now = Date.now } = this.#options;
    const late = new UpstreamFailure("The model server did not answer in time", { late: true });
    const longest = Math.min(timeoutMs, this.#options.timeoutMs);
    const closing = this.#closing.signal;
    const ends = signal === undefined ? closing : AbortSignal.any([signal, closing]);
    using deadline = new Deadline(longest, ends, () => late);
    try {
      const answer = await work(boundedFetch({ maxBytes, signal: deadline.signal, now, prepare }));
      this.#breaker.succeed(call);
      return answer;
    } catch (thrown) {
      if (ends.aborted) {
        this.#breaker.leave(call);
        throw ends.reason;
      }
      const failure = deadline.isLate ? late : failureOf(thrown);
      if (failure.refusesInput) this.#breaker.leave(call);
      else this.#breaker.fail(call, failure);
      throw unavailable(this.#code, failure);
    }
  }

  /** Ends the calls under way with the reason, and refuses later ones with it. */
  close(reason: Error): void {
    this.#closing.abort(reason);
  }
}
