import { GrpcTypes } from "@mysten/sui/grpc";
import type { Chain } from "../chain.ts";
import { RpcFault } from "../failure.ts";
import { simulate } from "../simulation.ts";
import type { Submission } from "../submission.ts";
import { mask } from "./field_mask.ts";
import { type RpcMethod, unary } from "./method.ts";

const EXECUTED_PATHS = ["effects.status", "checkpoint"];

/** Methods of TransactionExecutionService. */
export function executionService(chain: Chain, submission: Submission): RpcMethod[] {
  return [
    unary(
      "TransactionExecutionService/SimulateTransaction",
      GrpcTypes.SimulateTransactionRequest,
      GrpcTypes.SimulateTransactionResponse,
      (request) =>
        mask(
          GrpcTypes.SimulateTransactionResponse,
          simulate(chain, request),
          request.readMask?.paths ?? ["*"],
        ),
    ),
    unary(
      "TransactionExecutionService/ExecuteTransaction",
      GrpcTypes.ExecuteTransactionRequest,
      GrpcTypes.ExecuteTransactionResponse,
      async ({ transaction, signatures, readMask }) => {
        const bytes = transaction?.bcs?.value;
        if (bytes === undefined) {
          throw new RpcFault("INVALID_ARGUMENT", "missing transaction.bcs");
        }
        const executed = await submission.execute(bytes, signatures);
        const paths = readMask?.paths ?? EXECUTED_PATHS;
        return { transaction: mask(GrpcTypes.ExecutedTransaction, executed, paths) };
      },
    ),
  ];
}
