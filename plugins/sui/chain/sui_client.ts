import { SuiGrpcClient } from "@mysten/sui/grpc";
import { boundedRpc } from "./bounded_rpc.ts";
import type { SuiNetwork } from "../../../src/wire/networks.ts";

/** Which node to call, and the bounds of calls. */
export interface SuiOptions {
  readonly network: SuiNetwork;
  /** Address of a node that speaks gRPC-web. */
  readonly url: string;
  /** Longest wait for an answer in milliseconds; 10 s when absent. */
  readonly timeoutMs?: number;
  /** Most bytes of an answer; 4 MiB when absent. */
  readonly maxBytes?: number;
  /** Longest silence of a subscription in milliseconds; a minute when absent. */
  readonly idleMs?: number;
}

/** A client of a node, whose calls {@linkcode boundedRpc} bounds. */
export function openSui(
  { network, url, timeoutMs = 10_000, maxBytes = 4 * 1024 * 1024, idleMs = 60_000 }: SuiOptions,
): SuiGrpcClient {
  return new SuiGrpcClient({
    network,
    baseUrl: url,
    // Lets the lengths of messages be followed, and takes a quarter fewer bytes than base64.
    format: "binary",
    fetch: boundedRpc({ timeoutMs, maxBytes, idleMs }),
  });
}
