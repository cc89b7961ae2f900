import { RpcError, type SuiGrpcClient } from "@mysten/sui/grpc";
import { abortable } from "../../../src/deadline.ts";
import { SvcError } from "../../../src/errors.ts";
import type { BackendHealth } from "../../../src/interfaces/mod.ts";
import { AnswerTooLarge, NodeFailure } from "../chain/node_failure.ts";
import { CircuitBreaker, type CircuitBreakerOptions } from "../../shared/circuit_breaker.ts";
import { UpstreamFailure } from "../../shared/upstream_failure.ts";
import type { NodeObject } from "./account_checks.ts";

/** Most objects of one call: the limit of public nodes. */
const MAX_BATCH = 50;

/** `google.rpc.Code` of an object that does not exist. */
const NOT_FOUND = 5;

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

interface Read {
  readonly id: string;
  readonly settle: PromiseWithResolvers<NodeObject | undefined>;
}

/**
 * Reads objects by id. Reads that begin in the same turn of the event loop share a call; reads of an
 * object that is being read share its answer.
 */
export class ObjectReader {
  readonly #client: SuiGrpcClient;
  readonly #breaker: CircuitBreaker;
  readonly #closing = new AbortController();
  #sharing = new Map<string, Promise<NodeObject | undefined>>();
  #waiting: Read[] = [];

  constructor(client: SuiGrpcClient, breaker?: CircuitBreakerOptions) {
    this.#client = client;
    this.#breaker = new CircuitBreaker("chain_unavailable", breaker);
  }

  get health(): BackendHealth {
    return this.#breaker.health;
  }

  /**
   * The object as the node describes it now, unchecked.
   *
   * @param id `0x` and 64 lower-case hex characters.
   * @throws {SvcError} `chain_unavailable`; the signal's reason when that ended the wait.
   */
  async read(id: string, signal?: AbortSignal): Promise<NodeObject | undefined> {
    signal?.throwIfAborted();
    this.#closing.signal.throwIfAborted();
    return await abortable(this.#sharing.get(id) ?? this.#enqueue(id), signal);
  }

  /** Later reads do not share answers that were asked for before this call. */
  forget(): void {
    this.#sharing = new Map();
  }

  /** Ends the reads under way with the reason, and refuses later ones with it. */
  close(reason: Error): void {
    this.#closing.abort(reason);
  }

  #enqueue(id: string): Promise<NodeObject | undefined> {
    const settle = Promise.withResolvers<NodeObject | undefined>();
    if (this.#waiting.length === 0) queueMicrotask(() => this.#flush());
    this.#waiting.push({ id, settle });
    const sharing = this.#sharing;
    sharing.set(id, settle.promise);
    const done = () => sharing.delete(id);
    settle.promise.then(done, done);
    return settle.promise;
  }

  #flush(): void {
    const reads = this.#waiting;
    this.#waiting = [];
    for (let at = 0; at < reads.length; at += MAX_BATCH) {
      void this.#load(reads.slice(at, at + MAX_BATCH));
    }
  }

  async #load(reads: readonly Read[]): Promise<void> {
    try {
      const results = await this.#guarded(reads);
      reads.forEach(({ settle }, index) => {
        const { result } = results[index]!;
        if (result.oneofKind === "object") settle.resolve(result.object);
        else if (result.oneofKind === "error" && result.error.code === NOT_FOUND) {
          settle.resolve(undefined);
        } else settle.reject(new SvcError("chain_unavailable"));
      });
    } catch (thrown) {
      if (thrown instanceof AnswerTooLarge && reads.length > 1) {
        // Callers may name large objects, which must not fail the reads of others.
        const half = Math.ceil(reads.length / 2);
        await Promise.all([this.#load(reads.slice(0, half)), this.#load(reads.slice(half))]);
        return;
      }
      const error = this.#closing.signal.aborted
        ? this.#closing.signal.reason
        : thrown instanceof SvcError
        ? thrown
        : new SvcError("chain_unavailable", undefined, { cause: thrown });
      for (const { settle } of reads) settle.reject(error);
    }
  }

  /** Asks unless the breaker is open; an answer that is too large is no failure of the node. */
  async #guarded(reads: readonly Read[]) {
    const call = this.#breaker.enter();
    try {
      const answer = await this.#ask(reads);
      this.#breaker.succeed(call);
      return answer;
    } catch (thrown) {
      if (thrown instanceof AnswerTooLarge) {
        this.#breaker.leave(call);
        throw thrown;
      }
      const cause = failureOf(thrown);
      this.#breaker.fail(call, cause);
      throw new SvcError("chain_unavailable", undefined, { cause });
    }
  }

  async #ask(reads: readonly Read[]) {
    const { response } = await this.#client.ledgerService.batchGetObjects({
      requests: reads.map(({ id }) => ({ objectId: id })),
      readMask: { paths: ["object_id", "object_type", "owner", "contents"] },
    }, { abort: this.#closing.signal });
    if (response.objects.length !== reads.length) throw new Error("objects are missing");
    return response.objects;
  }
}
