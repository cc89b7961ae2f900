import { GrpcTypes } from "@mysten/sui/grpc";
import { TransactionDataBuilder } from "@mysten/sui/transactions";
import { normalizeSuiAddress } from "@mysten/sui/utils";
import { verifyTransactionSignature } from "@mysten/sui/verify";
import { RpcFault } from "./failure.ts";
import { programOf } from "./program.ts";

const ExpirationKind = GrpcTypes.TransactionExpiration_TransactionExpirationKind;

function expirationOf(
  data: TransactionDataBuilder["expiration"],
): GrpcTypes.TransactionExpiration {
  if (data?.Epoch != null) return { kind: ExpirationKind.EPOCH, epoch: BigInt(data.Epoch) };
  const during = data?.ValidDuring;
  if (!during) return { kind: ExpirationKind.NONE };
  return {
    kind: ExpirationKind.VALID_DURING,
    ...(during.minEpoch == null ? {} : { minEpoch: BigInt(during.minEpoch) }),
    ...(during.maxEpoch == null ? {} : { epoch: BigInt(during.maxEpoch) }),
    chain: during.chain,
    nonce: during.nonce,
  };
}

/**
 * A transaction from the BCS of `TransactionData`, as the protocol has it.
 * Throws RpcFault when the bytes are none or hold what the chain does not support.
 */
export function decodeTransaction(bytes: Uint8Array): GrpcTypes.Transaction {
  try {
    const data = TransactionDataBuilder.fromBytes(bytes);
    const sender = normalizeSuiAddress(data.sender ?? "0x0");
    return {
      bcs: { name: "TransactionData", value: bytes },
      digest: TransactionDataBuilder.getDigestFromBytes(bytes),
      version: 1,
      sender,
      kind: {
        data: { oneofKind: "programmableTransaction", programmableTransaction: programOf(data) },
      },
      gasPayment: {
        objects: (data.gasData.payment ?? []).map(({ objectId, version, digest }) => ({
          objectId: normalizeSuiAddress(objectId),
          version: BigInt(version),
          digest,
        })),
        owner: normalizeSuiAddress(data.gasData.owner ?? sender),
        price: BigInt(data.gasData.price ?? 0),
        budget: BigInt(data.gasData.budget ?? 0),
      },
      expiration: expirationOf(data.expiration),
    };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new RpcFault("INVALID_ARGUMENT", `invalid transaction: ${why}`);
  }
}

/**
 * Checks that the sender and, when it is another, the payer of gas have signed, and nobody else.
 * Signatures that need a node to be checked (zkLogin) are refused. Throws RpcFault.
 */
export async function checkSignatures(
  bytes: Uint8Array,
  transaction: GrpcTypes.Transaction,
  signatures: readonly GrpcTypes.UserSignature[],
): Promise<void> {
  const needed = new Set([transaction.sender, transaction.gasPayment?.owner]);
  for (const signature of signatures) {
    let address: string;
    try {
      const text = (signature.bcs?.value ?? new Uint8Array()).toBase64();
      address = normalizeSuiAddress((await verifyTransactionSignature(bytes, text)).toSuiAddress());
    } catch {
      throw new RpcFault("INVALID_ARGUMENT", "Invalid user signature: Signature is not valid");
    }
    if (!needed.delete(address)) {
      throw new RpcFault("INVALID_ARGUMENT", `Invalid user signature: ${address} need not sign`);
    }
  }
  if (needed.size > 0) {
    throw new RpcFault(
      "INVALID_ARGUMENT",
      `Invalid user signature: required signature of ${[...needed].join(", ")} is missing`,
    );
  }
}
