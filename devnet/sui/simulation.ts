import { GrpcTypes } from "@mysten/sui/grpc";
import { admit } from "./admission.ts";
import type { Chain } from "./chain.ts";
import { balanceChanges, type Change, protoEffects, protoTime } from "./effects.ts";
import { runPaid } from "./gas.ts";
import { textDigest } from "./ids.ts";
import { finished, lamport, protoEvent } from "./ledger.ts";
import { programIn, resolveTransaction } from "./resolve.ts";
import { decodeTransaction } from "./signed_transaction.ts";
import type { Tx } from "./tx.ts";
import type { Value } from "./value.ts";
import { GAS_PRICE } from "./gas.ts";

const DISABLED = GrpcTypes.SimulateTransactionRequest_TransactionChecks.DISABLED;

function output(tx: Tx, value: Value): GrpcTypes.CommandOutput {
  if (value.kind === "pure") return { value: { value: value.bytes } };
  const object = value.kind === "object" ? tx.tryGet(value.id) : undefined;
  return object === undefined ? {} : { value: { name: object.type, value: object.bcs } };
}

function changesOf(chain: Chain, tx: Tx, version: bigint): Change[] {
  return [...tx.written].map(([id, written]) => ({
    before: chain.objects.get(id),
    after: written === null ? undefined : finished(written, version),
  })).filter(({ before, after }) => before !== undefined || after !== undefined);
}

/**
 * Resolves a transaction and runs it without committing. With checks, everything that a validator
 * checks but signatures is checked: in particular, owned inputs belong to the sender.
 * Throws RpcFault when it is refused; a failed execution is a result.
 */
export function simulate(
  chain: Chain,
  request: GrpcTypes.SimulateTransactionRequest,
): GrpcTypes.SimulateTransactionResponse {
  const bytes = request.transaction?.bcs?.value;
  const given = bytes === undefined ? request.transaction ?? {} : decodeTransaction(bytes);
  const transaction = resolveTransaction(chain, given, request.doGasSelection ?? false);
  if (request.checks !== DISABLED) admit(chain, transaction);
  const { sender = "0x0", gasPayment } = transaction;
  const payment = gasPayment?.objects.map(({ objectId = "" }) => objectId) ?? [];
  // What changes with the transaction, so that ids differ from those of other simulations.
  const digest = transaction.digest ??
    textDigest(`simulation at ${chain.ledger.height} of ${sender}`);
  const { tx, results, failure, gas } = runPaid(chain, programIn(transaction), {
    sender,
    digest,
    payment,
    budget: gasPayment?.budget ?? 0n,
  });
  const version = lamport(tx, chain.objects);
  const changes = changesOf(chain, tx, version);
  const events = tx.events.map((event, index) => ({ ...event, digest, index, checkpoint: 0 }));
  const [gasCoin] = payment;
  return {
    transaction: {
      digest,
      transaction,
      signatures: [],
      effects: protoEffects({
        digest,
        epoch: chain.epoch,
        version,
        gas,
        gasCoin,
        changes,
        failure,
      }),
      events: { events: events.map(protoEvent) },
      balanceChanges: balanceChanges(changes),
      timestamp: protoTime(chain.now()),
    },
    commandOutputs: results.map((values) => ({
      returnValues: values.map((value) => output(tx, value)),
      mutatedByRef: [],
    })),
    suggestedGasPrice: GAS_PRICE,
  };
}
