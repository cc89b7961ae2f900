import { type SuiClientTypes, TransactionError } from "@mysten/sui/client";
import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { TransactionDataBuilder } from "@mysten/sui/transactions";
import { pause } from "../../../../src/deadline.ts";
import { StepFailure } from "./failure.ts";
import type { SavedTransaction } from "./upload_rows.ts";

/** What became of a transaction. */
export type Outcome =
  /** Executed with success; the objects it created, by their type. */
  | { readonly kind: "executed"; readonly created: readonly CreatedObject[] }
  /** Executed without success: gas was paid, nothing else happened. */
  | { readonly kind: "failed"; readonly reason: string }
  /** Not executed, and the chain can never execute it any more. */
  | { readonly kind: "void" }
  /** Executed, as its objects show, but the node does not know the result: it forgot or is behind. */
  | { readonly kind: "untold" };

/** An object that a transaction created. */
export interface CreatedObject {
  readonly objectId: string;
  readonly type: string;
}

const INCLUDE = { effects: true, objectTypes: true } as const;
type Executed = SuiClientTypes.TransactionResult<typeof INCLUDE>;

/**
 * Executes a saved transaction unless that was done, and finds out what became of it. The chain
 * executes a digest at most once, so this may be repeated at will.
 *
 * @throws {StepFailure} `unreachable` while that is unknown.
 */
export async function settle(sui: SuiGrpcClient, saved: SavedTransaction): Promise<Outcome> {
  try {
    const known = saved.isFresh ? undefined : await find(sui, saved.digest);
    if (known !== undefined) return outcomeOf(known);
    return await execute(sui, saved);
  } catch (thrown) {
    throw StepFailure.of("chain", thrown);
  }
}

async function execute(sui: SuiGrpcClient, saved: SavedTransaction): Promise<Outcome> {
  try {
    const { bytes: transaction, signature, digest } = saved;
    const result = await sui.core.executeTransaction({
      transaction,
      signatures: [signature],
      include: INCLUDE,
    });
    const { digest: answered } = result.Transaction ?? result.FailedTransaction;
    if (answered !== digest) throw new Error("The node answered for another transaction");
    // Until then the node may answer reads without the objects it made.
    await untilFound(sui, digest);
    return outcomeOf(result);
  } catch (thrown) {
    const kind = await standing(sui, saved);
    // Looked up last: what was executed meanwhile has overtaken its own inputs.
    const known = await find(sui, saved.digest);
    if (known !== undefined) return outcomeOf(known);
    if (kind !== "open") return { kind };
    throw thrown;
  }
}

/** Pauses between looks for a transaction that was executed, in milliseconds. */
const PAUSES_MS = [100, 300, 600, 1_500, 3_500, 7_000] as const;

/** Replaces the client's own wait, whose timer would keep the process alive. */
async function untilFound(sui: SuiGrpcClient, digest: string): Promise<void> {
  for (const ms of PAUSES_MS) {
    if (await find(sui, digest) !== undefined) return;
    await pause(ms);
  }
  throw new Error("The node does not find what it executed");
}

async function find(sui: SuiGrpcClient, digest: string): Promise<Executed | undefined> {
  try {
    return await sui.core.getTransaction({ digest, include: INCLUDE });
  } catch (error) {
    if (error instanceof TransactionError && error.reason === "notFound") return undefined;
    throw error;
  }
}

function outcomeOf(result: Executed): Outcome {
  if (result.FailedTransaction !== undefined) {
    return { kind: "failed", reason: result.FailedTransaction.status.error?.message ?? "unknown" };
  }
  const { effects, objectTypes } = result.Transaction;
  const created = effects.changedObjects
    .filter(({ idOperation }) => idOperation === "Created")
    .map(({ objectId }) => ({ objectId, type: objectTypes[objectId] ?? "" }));
  return { kind: "executed", created };
}

/**
 * What the inputs of a transaction show: `untold` when it changed one of them last, else `void` when
 * one has a newer version by now or the transaction's last epoch is over.
 */
async function standing(
  sui: SuiGrpcClient,
  saved: SavedTransaction,
): Promise<"open" | "void" | "untold"> {
  const data = TransactionDataBuilder.fromBytes(saved.bytes);
  const gas = data.gasData.payment ?? [];
  const inputs = data.inputs.flatMap((input) => input.Object?.ImmOrOwnedObject ?? []);
  const all = [...gas, ...inputs];
  const { objects } = await sui.core.getObjects({
    objectIds: all.map(({ objectId }) => objectId),
    include: { previousTransaction: true },
  });
  if (objects.length !== all.length) throw new Error("The node left out an object");
  let overtaken = false;
  for (const [index, object] of objects.entries()) {
    if (object instanceof Error) {
      // A reservation of an address balance stands among the gas coins without being an object.
      const isInput = index >= gas.length;
      if (isInput && "reason" in object && object.reason !== "unknown") overtaken = true;
    } else if (object.previousTransaction === saved.digest) return "untold";
    else if (BigInt(object.version) > BigInt(all[index]!.version)) overtaken = true;
  }
  return overtaken || await isOver(sui, data.expiration) ? "void" : "open";
}

async function isOver(
  sui: SuiGrpcClient,
  expiration: TransactionDataBuilder["expiration"],
): Promise<boolean> {
  const last = expiration?.ValidDuring?.maxEpoch ?? expiration?.Epoch;
  if (last === undefined || last === null) return false;
  const { systemState } = await sui.core.getCurrentSystemState();
  return BigInt(systemState.epoch) > BigInt(last);
}
