import type { Faults } from "./faults.ts";
import type { Chain } from "./sui/chain.ts";

/** Answers requests of one endpoint; undefined when the path is not its own. */
export type HttpHandler = (
  request: Request,
) => Promise<Response | undefined> | Response | undefined;

/** What the parts of a devnet are installed into. */
export interface DevnetParts {
  /** The chain: objects, functions, time and epochs. */
  readonly chain: Chain;
  /** Fault switches and call counts. */
  readonly faults: Faults;
  /** Seed of keys and ids. */
  readonly seed: number;
  /** Folder for what must outlive a restart; undefined: memory only. */
  readonly dataDir: string | undefined;
  /**
   * Serves an endpoint on a port of its own on 127.0.0.1 and returns its base URL without a slash
   * at the end. `down`, `hang`, `slow` and `status` of the endpoint are applied before the handler,
   * which only has to implement `wrong`. Requests are counted under the endpoint's name.
   */
  serve(endpoint: string, handler: HttpHandler): string;
}
