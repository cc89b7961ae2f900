import { SuiGrpcClient } from "@mysten/sui/grpc";
import type { SuiNetwork } from "./fields.ts";

/** Options of {@linkcode openSui}. */
export interface SuiOptions {
  /** Name of the chain. */
  readonly network: SuiNetwork;
  /** Address of a node that speaks gRPC-web. */
  readonly url: string;
  /** Longest wait for an answer in milliseconds; 10 s when absent. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;

/**
 * A client of a node. It contacts nothing by itself; redirects are refused, because the permission
 * list is meant for one host, and every call ends by its deadline.
 */
export function openSui({ network, url, timeoutMs = TIMEOUT_MS }: SuiOptions): SuiGrpcClient {
  const fetchOnce: typeof fetch = async (input, init) => {
    const deadline = AbortSignal.timeout(timeoutMs);
    const signal = init?.signal ? AbortSignal.any([init.signal, deadline]) : deadline;
    const response = await fetch(input, { ...init, redirect: "error", signal });
    if (response.ok) return response;
    // The client reads no body of an answer that says no, and the connection would stay with it.
    await response.body?.cancel();
    return new Response(null, { status: response.status, headers: response.headers });
  };
  return new SuiGrpcClient({ network, baseUrl: url, fetch: fetchOnce });
}
