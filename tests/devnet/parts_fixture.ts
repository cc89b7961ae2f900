import { SuiGrpcClient } from "@mysten/sui/grpc";
import { Faults } from "../../devnet/faults.ts";
import { type DevServer, listen } from "../../devnet/http_server.ts";
import { CallCounts, type DevnetParts } from "../../devnet/parts.ts";
import { Chain } from "../../devnet/sui/chain.ts";
import { installFramework } from "../../devnet/sui/framework.ts";
import { inProcessTransport } from "../../devnet/sui/rpc/in_process.ts";
import { ChainNode } from "../../devnet/sui/rpc/node.ts";

/** Parts to install something of a devnet into, without the rest of it. */
export interface PartsFixture extends DevnetParts, AsyncDisposable {
  /** A client of the SDK that reaches the chain in process. */
  client(): SuiGrpcClient;
}

/** A chain, faults and servers on free ports. */
export function startParts(dataDir?: string): PartsFixture {
  const servers: DevServer[] = [];
  const faults = new Faults();
  const chain = new Chain();
  installFramework(chain);
  const calls = new CallCounts();
  const node = new ChainNode(chain, faults, calls);
  return {
    chain,
    faults,
    calls,
    seed: 1,
    dataDir,
    client: () => new SuiGrpcClient({ network: "testnet", transport: inProcessTransport(node) }),
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
