import { RpcError } from "@mysten/sui/grpc";
import { SvcError } from "../../../src/errors.ts";
import type { BackendHealth } from "../../../src/interfaces/mod.ts";
import { CircuitBreaker, type CircuitBreakerOptions } from "../../shared/circuit_breaker.ts";
import { UpstreamFailure } from "../../shared/upstream_failure.ts";
import { AnswerTooLarge, NodeFailure } from "./node_failure.ts";

/** Messages for callers by gRPC code, instead of the node's own. */
const TEXTS: Readonly<Record<string, string>> = {
  DEADLINE_EXCEEDED: "The chain's node did not answer in time",
  RESOURCE_EXHAUSTED: "The chain's node asks for a pause",
  UNAVAILABLE: "The chain's node cannot be reached",
};

function failureOf(thrown: unknown): UpstreamFailure {
  if (thrown instanceof NodeFailure) {
    return new UpstreamFailure(thrown.message, { retryAfter: thrown.retryAfter });
  }
  const code = thrown instanceof RpcError ? thrown.code : "";
  return new UpstreamFailure(TEXTS[code] ?? "The chain's node answered with an error");
}

/** Calls of a node behind a circuit breaker. */
export class GuardedNode {
  readonly #breaker: CircuitBreaker;

  constructor(options: CircuitBreakerOptions = {}) {
    this.#breaker = new CircuitBreaker("chain_unavailable", options);
  }

  get health(): BackendHealth {
    return this.#breaker.health;
  }

  /**
   * Runs one call, which must end by itself.
   *
   * @throws {SvcError} `chain_unavailable`.
   * @throws {AnswerTooLarge} which does not count as a failure of the node: ask for less.
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const call = this.#breaker.enter();
    try {
      const answer = await work();
      this.#breaker.succeed(call);
      return answer;
    } catch (thrown) {
      if (thrown instanceof AnswerTooLarge) {
        this.#breaker.leave(call);
        throw thrown;
      }
      const failure = failureOf(thrown);
      this.#breaker.fail(call, failure);
      throw new SvcError("chain_unavailable", undefined, { cause: failure });
    }
  }
}
