import { SuiGrpcClient } from "@mysten/sui/grpc";
import { boundedRpc } from "./bounded_rpc.ts";
import type { SuiNetwork } from "../../../src/wire/networks.ts";

/** Options of {@linkcode openSui}. */
export interface SuiOptions {
  /** Name of the chain. */
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

/**
 * A client of a node. It contacts nothing by itself; redirects are refused, because the permission
 * list is meant for one host, and every call ends by its deadline: subscriptions when nothing comes
 * for too long. Its failures name no address.
 */
export function openSui(
  { network, url, timeoutMs = 10_000, maxBytes = 4 * 1024 * 1024, idleMs = 60_000 }: SuiOptions,
): SuiGrpcClient {
  return new SuiGrpcClient({
    network,
    baseUrl: url,
    // Lengths of messages can be followed, and a quarter fewer bytes are sent than as base64.
    format: "binary",
    fetch: boundedRpc({ timeoutMs, maxBytes, idleMs }),
  });
}
