import { GrpcTypes } from "@mysten/sui/grpc";
import type { Chain } from "../chain.ts";
import { textDigest } from "../ids.ts";
import { mask } from "./field_mask.ts";

const DEFAULT_PATHS = ["sequence_number", "digest"];

/** A checkpoint as the protocol has it. Each holds one transaction; the first holds none. */
export function checkpointMessage(
  chain: Chain,
  number: number,
  paths: readonly string[] = DEFAULT_PATHS,
): GrpcTypes.Checkpoint {
  const record = chain.ledger.recordAt(number);
  const transaction = chain.ledger.transactions.get(record?.digest ?? "");
  return mask(GrpcTypes.Checkpoint, {
    sequenceNumber: BigInt(number),
    digest: textDigest(`${chain.chainId} checkpoint ${number}`),
    transactions: transaction === undefined ? [] : [transaction],
  }, paths);
}
