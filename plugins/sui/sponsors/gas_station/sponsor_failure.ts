import { RpcError } from "@mysten/sui/grpc";
import { SvcError } from "../../../../src/errors.ts";
import { NodeFailure } from "../../chain/node_failure.ts";

/** gRPC codes that say something about the transaction and not about the node. */
const REFUSALS: readonly string[] = [
  "ABORTED",
  "ALREADY_EXISTS",
  "FAILED_PRECONDITION",
  "INVALID_ARGUMENT",
  "NOT_FOUND",
  "OUT_OF_RANGE",
];

/** Whether a node refused a transaction, so that it is not being executed. */
export function isRefusal(error: unknown): boolean {
  return error instanceof RpcError && REFUSALS.includes(error.code);
}

/** The error that callers get for anything a call of the node throws; the original is only logged. */
export function sponsorFailure(error: unknown): SvcError {
  if (error instanceof SvcError) return error;
  if (isRefusal(error)) return new SvcError("sponsor_rejected", undefined, { cause: error });
  if (error instanceof RpcError && error.code === "RESOURCE_EXHAUSTED") {
    const retryAfter = error instanceof NodeFailure ? error.retryAfter : undefined;
    return new SvcError("sponsor_overloaded", undefined, { cause: error, retryAfter });
  }
  return new SvcError("sponsor_upstream_error", undefined, { cause: error });
}
