import { GrpcTypes } from "@mysten/sui/grpc";
import { normalizeSuiAddress } from "@mysten/sui/utils";
import type { Chain } from "../chain.ts";
import { protoTime } from "../effects.ts";
import { RpcFault } from "../failure.ts";
import { GAS_PRICE } from "../gas.ts";
import { checkpointMessage } from "./checkpoint_message.ts";
import { mask } from "./field_mask.ts";
import { type RpcMethod, unary } from "./method.ts";
import { lieAbout, objectMessage } from "./object_message.ts";

/** Most objects or transactions of one batch. */
const MOST_PER_BATCH = 50;
const TRANSACTION_PATHS = ["digest"];
const EPOCH_PATHS = ["epoch", "first_checkpoint", "last_checkpoint", "reference_gas_price"];
const NOT_FOUND = 5;

function findObject(
  chain: Chain,
  { objectId, version }: GrpcTypes.GetObjectRequest,
  readMask: GrpcTypes.GetObjectRequest["readMask"],
  wrong: boolean,
): GrpcTypes.Object | undefined {
  if (!objectId) throw new RpcFault("INVALID_ARGUMENT", "missing object_id");
  const object = chain.object(normalizeSuiAddress(objectId));
  // Only the latest version is kept, as on a node that prunes.
  if (object === undefined || (version !== undefined && version !== object.version)) {
    return undefined;
  }
  return objectMessage(wrong ? lieAbout(object) : object, readMask);
}

function findTransaction(
  chain: Chain,
  digest: string | undefined,
  readMask: GrpcTypes.GetTransactionRequest["readMask"],
): GrpcTypes.ExecutedTransaction | undefined {
  const found = chain.ledger.transactions.get(digest ?? "");
  return found &&
    mask(GrpcTypes.ExecutedTransaction, found, readMask?.paths ?? TRANSACTION_PATHS);
}

function checkBatch(size: number): void {
  if (size > MOST_PER_BATCH) {
    throw new RpcFault("INVALID_ARGUMENT", `a batch has at most ${MOST_PER_BATCH} items`);
  }
}

function missing(what: string): { oneofKind: "error"; error: GrpcError } {
  const error = { code: NOT_FOUND, message: `${what} not found`, details: [] };
  return { oneofKind: "error", error };
}

type GrpcError = (GrpcTypes.GetObjectResult["result"] & { oneofKind: "error" })["error"];

function batchObjects(
  chain: Chain,
  request: GrpcTypes.BatchGetObjectsRequest,
  wrong: boolean,
): GrpcTypes.BatchGetObjectsResponse {
  checkBatch(request.requests.length);
  const objects = request.requests.map((each): GrpcTypes.GetObjectResult => {
    const object = findObject(chain, each, request.readMask, wrong);
    return {
      result: object === undefined
        ? missing(`Object ${each.objectId}`)
        : { oneofKind: "object", object },
    };
  });
  return { objects };
}

function batchTransactions(
  chain: Chain,
  request: GrpcTypes.BatchGetTransactionsRequest,
): GrpcTypes.BatchGetTransactionsResponse {
  checkBatch(request.digests.length);
  const transactions = request.digests.map((digest): GrpcTypes.GetTransactionResult => {
    const transaction = findTransaction(chain, digest, request.readMask);
    return {
      result: transaction === undefined
        ? missing(`Transaction ${digest}`)
        : { oneofKind: "transaction", transaction },
    };
  });
  return { transactions };
}

function epochMessage(chain: Chain, request: GrpcTypes.GetEpochRequest): GrpcTypes.Epoch {
  if (request.epoch !== undefined && request.epoch !== chain.epoch) {
    throw new RpcFault("NOT_FOUND", `epoch ${request.epoch} not found`);
  }
  return mask(GrpcTypes.Epoch, {
    epoch: chain.epoch,
    systemState: {
      version: 2n,
      epoch: chain.epoch,
      protocolVersion: 1n,
      referenceGasPrice: GAS_PRICE,
      epochStartTimestampMs: BigInt(chain.epochStart),
      validatorReportRecords: [],
    },
    start: protoTime(chain.epochStart),
    firstCheckpoint: 0n,
    lastCheckpoint: BigInt(chain.ledger.height),
    referenceGasPrice: GAS_PRICE,
    protocolConfig: { protocolVersion: 1n, featureFlags: {}, attributes: {}, configs: {} },
  }, request.readMask?.paths ?? EPOCH_PATHS);
}

/** Methods of LedgerService that answer once. */
export function ledgerService(chain: Chain): RpcMethod[] {
  return [
    unary(
      "LedgerService/GetServiceInfo",
      GrpcTypes.GetServiceInfoRequest,
      GrpcTypes.GetServiceInfoResponse,
      () => ({
        chainId: chain.chainId,
        chain: "devnet",
        epoch: chain.epoch,
        checkpointHeight: BigInt(chain.ledger.height),
        timestamp: protoTime(chain.now()),
        lowestAvailableCheckpoint: 0n,
        lowestAvailableCheckpointObjects: BigInt(chain.ledger.height),
        server: "svc-devnet",
      }),
    ),
    unary(
      "LedgerService/GetObject",
      GrpcTypes.GetObjectRequest,
      GrpcTypes.GetObjectResponse,
      (request, { wrong }) => {
        const object = findObject(chain, request, request.readMask, wrong);
        if (object !== undefined) return { object };
        throw new RpcFault("NOT_FOUND", `Object ${request.objectId} not found`);
      },
    ),
    unary(
      "LedgerService/BatchGetObjects",
      GrpcTypes.BatchGetObjectsRequest,
      GrpcTypes.BatchGetObjectsResponse,
      (request, { wrong }) => batchObjects(chain, request, wrong),
    ),
    unary(
      "LedgerService/GetTransaction",
      GrpcTypes.GetTransactionRequest,
      GrpcTypes.GetTransactionResponse,
      (request) => {
        const transaction = findTransaction(chain, request.digest, request.readMask);
        if (transaction !== undefined) return { transaction };
        throw new RpcFault("NOT_FOUND", `Transaction ${request.digest} not found`);
      },
    ),
    unary(
      "LedgerService/BatchGetTransactions",
      GrpcTypes.BatchGetTransactionsRequest,
      GrpcTypes.BatchGetTransactionsResponse,
      (request) => batchTransactions(chain, request),
    ),
    unary(
      "LedgerService/GetCheckpoint",
      GrpcTypes.GetCheckpointRequest,
      GrpcTypes.GetCheckpointResponse,
      ({ checkpointId, readMask }) => {
        const number = checkpointId.oneofKind === "sequenceNumber"
          ? Number(checkpointId.sequenceNumber)
          : chain.ledger.height;
        if (checkpointId.oneofKind === "digest" || number > chain.ledger.height) {
          throw new RpcFault("NOT_FOUND", "checkpoint not found");
        }
        return { checkpoint: checkpointMessage(chain, number, readMask?.paths) };
      },
    ),
    unary(
      "LedgerService/GetEpoch",
      GrpcTypes.GetEpochRequest,
      GrpcTypes.GetEpochResponse,
      (request) => ({ epoch: epochMessage(chain, request) }),
    ),
  ];
}
