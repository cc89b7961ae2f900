import { BoundedMap } from "../../../src/bounded_map.ts";
import { SvcError } from "../../../src/errors.ts";
import type { BackendHealth } from "../../../src/interfaces/mod.ts";
import { CircuitBreaker } from "../../shared/circuit_breaker.ts";
import { UpstreamFailure } from "../../shared/upstream_failure.ts";

const BREAKER = { failures: 3, pauseMs: 1_000, maxPauseMs: 15_000 };
const MAX_SETS = 100;

/** A circuit breaker for each set of key servers, by its name. */
export class KeyServerBreakers {
  readonly #now: () => number;
  readonly #sets = new BoundedMap<string, CircuitBreaker>(MAX_SETS);

  constructor(now: () => number) {
    this.#now = now;
  }

  health(name: string): BackendHealth {
    return this.#sets.get(name)?.health ?? { status: "ok" };
  }

  /**
   * Makes a call to a set of key servers.
   *
   * @throws {SvcError} what the call throws; `key_service_unavailable` with `retryAfter` during a
   * pause.
   */
  async run<T>(name: string, call: () => Promise<T>): Promise<T> {
    const breaker = this.#sets.get(name) ??
      new CircuitBreaker("key_service_unavailable", { ...BREAKER, now: this.#now });
    this.#sets.set(name, breaker);
    const number = breaker.enter();
    try {
      const result = await call();
      breaker.succeed(number);
      return result;
    } catch (thrown) {
      const error = SvcError.from(thrown);
      const { code, message } = error;
      if (code === "key_service_unavailable") breaker.fail(number, new UpstreamFailure(message));
      // A refusal shows that the servers work.
      else if (code === "decrypt_credential_invalid") breaker.succeed(number);
      else breaker.leave(number);
      throw error;
    }
  }
}
