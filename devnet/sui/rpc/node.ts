import type { Faults } from "../../faults.ts";
import type { CallCounts } from "../../parts.ts";
import type { Chain } from "../chain.ts";
import { type RpcCode, RpcFault } from "../failure.ts";
import { Submission } from "../submission.ts";
import { executionService } from "./execution_service.ts";
import { ledgerService } from "./ledger_service.ts";
import type { RpcMethod, StreamMethod } from "./method.ts";
import { packageService } from "./package_service.ts";
import { queries } from "./queries.ts";
import { stateService } from "./state_service.ts";
import { subscriptions } from "./subscriptions.ts";

/** Name of the node among the endpoints. */
export const CHAIN = "chain";

/** A call refused by a fault with an HTTP status, before the node sees it. */
export class StatusFault extends RpcFault {
  /** HTTP status. */
  readonly status: number;
  /** Seconds. */
  readonly retryAfter: number | undefined;

  /** @param retryAfter Seconds. */
  constructor(status: number, retryAfter: number | undefined) {
    super(codeOf(status), `status ${status}`);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** The gRPC status that a client makes of an HTTP status. */
function codeOf(status: number): RpcCode {
  if (status === 429) return "RESOURCE_EXHAUSTED";
  return status === 502 || status === 503 || status === 504 ? "UNAVAILABLE" : "INTERNAL";
}

/** A full node over a chain: `sui.rpc.v2` on messages of the wire, with faults and counts. */
export class ChainNode {
  /** Executes signed transactions. */
  readonly submission: Submission;
  readonly #faults: Faults;
  readonly #calls: CallCounts;
  readonly #methods: ReadonlyMap<string, RpcMethod>;
  #streams = new AbortController();

  /** A node of a chain. */
  constructor(chain: Chain, faults: Faults, calls: CallCounts) {
    this.submission = new Submission(chain);
    this.#faults = faults;
    this.#calls = calls;
    this.#methods = new Map(
      [
        ...ledgerService(chain),
        ...stateService(chain),
        ...packageService(chain),
        ...executionService(chain, this.submission),
        ...queries(chain),
        ...subscriptions(chain),
      ].map((method) => [method.path, method]),
    );
    faults.watch((endpoint, fault) => {
      if (endpoint === CHAIN && fault?.kind === "down") this.dropStreams();
    });
  }

  /** Ends every running stream, as a node that restarts. */
  dropStreams(): void {
    this.#streams.abort();
    this.#streams = new AbortController();
  }

  /**
   * Calls a method; also one that answers once gives a stream, of one message.
   *
   * @param path `Service/Method`.
   * @param signal Aborts when the caller is gone.
   * Throws RpcFault, StatusFault, or Dropped for a broken connection.
   */
  async *call(path: string, request: Uint8Array, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    this.#calls.count(CHAIN);
    this.#calls.count(`${CHAIN}/${path.split("/").at(-1)}`);
    const method = this.#methods.get(path);
    if (method === undefined) throw new RpcFault("UNIMPLEMENTED", `${path} is not implemented`);
    const refuse = (status: number, retryAfter: number | undefined): never => {
      throw new StatusFault(status, retryAfter);
    };
    if ("stream" in method) {
      const wrong = await this.#faults.run(CHAIN, path, {
        work: (lies) => Promise.resolve(lies),
        refuse,
        signal,
      });
      yield* this.#stream(method, request, signal, wrong);
      return;
    }
    yield await this.#faults.run(CHAIN, path, {
      work: (wrong) => method.unary(request, { signal, wrong }),
      refuse,
      signal,
    });
  }

  async *#stream(
    method: StreamMethod,
    request: Uint8Array,
    signal: AbortSignal,
    wrong: boolean,
  ): AsyncGenerator<Uint8Array> {
    const dropped = this.#streams.signal;
    // Not AbortSignal.any: what it makes can be collected while a stream waits for it.
    const ends = new AbortController();
    const end = () => ends.abort();
    const sources = [signal, dropped];
    for (const source of sources) source.addEventListener("abort", end);
    if (signal.aborted || dropped.aborted) end();
    try {
      yield* method.stream(request, { signal: ends.signal, wrong });
    } finally {
      for (const source of sources) source.removeEventListener("abort", end);
    }
    if (dropped.aborted) throw new RpcFault("UNAVAILABLE", "the node is going down");
  }
}
