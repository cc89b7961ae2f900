import type { Faults } from "./faults.ts";
import type { Chain } from "./sui/chain.ts";

/** Counts calls by name. */
export class CallCounts {
  readonly #counts = new Map<string, number>();

  /** Counts a call. @param name `endpoint` or `endpoint/method`, as in `chain/GetObject`. */
  count(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  /** How often each name was called. */
  get all(): ReadonlyMap<string, number> {
    return this.#counts;
  }
}

/**
 * Answers a request of an endpoint.
 *
 * @param wrong Asks for a well-formed lie.
 */
export type EndpointHandler = (request: Request, wrong: boolean) => Promise<Response>;

/** What the parts of a devnet are installed into. */
export interface DevnetParts {
  /** The chain: objects, functions, time and epochs. */
  readonly chain: Chain;
  /** Fault switches. */
  readonly faults: Faults;
  /** Counts of calls. */
  readonly calls: CallCounts;
  /** Seed of keys and ids. */
  readonly seed: number;
  /** Folder for what must outlive a restart; undefined: memory only. */
  readonly dataDir: string | undefined;
  /**
   * Serves an endpoint on 127.0.0.1, on a port of its own, with its faults applied, CORS for every
   * origin and each request counted under the endpoint's name.
   *
   * @param endpoint `keyServer:0`, `aggregator:0`, `publisher`, `relay`, `node:0`, …
   * @returns Base URL without a slash at the end.
   */
  serve(endpoint: string, handler: EndpointHandler): Promise<string>;
}
