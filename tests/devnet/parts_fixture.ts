import { Faults } from "../../devnet/faults.ts";
import { type DevServer, listen } from "../../devnet/http_server.ts";
import { CallCounts, type DevnetParts } from "../../devnet/parts.ts";
import { Chain } from "../../devnet/sui/chain.ts";

/** Parts to install something of a devnet into, without the rest of it. */
export interface PartsFixture extends DevnetParts, AsyncDisposable {}

/** A chain, faults and servers on free ports. */
export function startParts(dataDir?: string): PartsFixture {
  const servers: DevServer[] = [];
  const faults = new Faults();
  return {
    chain: new Chain(),
    faults,
    calls: new CallCounts(),
    seed: 1,
    dataDir,
    async serve(endpoint, handler) {
      const server = await listen(
        0,
        (request) => faults.answer(endpoint, request, (wrong) => handler(request, wrong)),
      );
      servers.push(server);
      return `http://127.0.0.1:${server.port}`;
    },
    async [Symbol.asyncDispose]() {
      faults.clear();
      for (const server of servers) await server[Symbol.asyncDispose]();
    },
  };
}
