import { GrpcTypes } from "@mysten/sui/grpc";
import { admit } from "./admission.ts";
import type { Chain } from "./chain.ts";
import { RpcFault } from "./failure.ts";
import { runPaid } from "./gas.ts";
import { commandNames } from "./program.ts";
import { programIn } from "./resolve.ts";
import { checkSignatures, decodeTransaction } from "./signed_transaction.ts";

/**
 * Executes signed transactions. As long as one is under way, its owned inputs are locked at their
 * versions: another transaction that wants them is refused (equivocation), the same one waits for
 * the first.
 */
export class Submission {
  readonly #chain: Chain;
  /** Digest that holds `id@version`. */
  readonly #locks = new Map<string, string>();
  readonly #pending = new Map<string, Promise<GrpcTypes.ExecutedTransaction>>();

  /**
   * Awaited between the locks and the execution, where a real chain agrees on an order. Tests hold
   * transactions here.
   */
  consensus: (digest: string) => Promise<void> = () => Promise.resolve();

  /** Submission to a chain. */
  constructor(chain: Chain) {
    this.#chain = chain;
  }

  /**
   * Executes a signed transaction once; again it answers with what came of it.
   *
   * @param bytes BCS of `TransactionData`.
   * Throws RpcFault when it is refused; a failed execution is a result.
   */
  async execute(
    bytes: Uint8Array,
    signatures: readonly GrpcTypes.UserSignature[],
  ): Promise<GrpcTypes.ExecutedTransaction> {
    const transaction = decodeTransaction(bytes);
    const digest = transaction.digest ?? "";
    await checkSignatures(bytes, transaction, signatures);
    const known = this.#chain.ledger.transactions.get(digest) ?? this.#pending.get(digest);
    if (known !== undefined) return await known;
    if (transaction.gasPayment?.objects.length === 0) {
      throw new RpcFault("INVALID_ARGUMENT", "No gas payment was provided");
    }
    admit(this.#chain, transaction);
    const locks = this.#lock(transaction, digest);
    const running = this.#run(transaction, digest, signatures).finally(() => {
      this.#pending.delete(digest);
      for (const lock of locks) this.#locks.delete(lock);
    });
    this.#pending.set(digest, running);
    return await running;
  }

  #lock(transaction: GrpcTypes.Transaction, digest: string): string[] {
    const owned = programIn(transaction).inputs
      .filter(({ kind }) => kind === GrpcTypes.Input_InputKind.IMMUTABLE_OR_OWNED);
    const locks = [...owned, ...transaction.gasPayment?.objects ?? []]
      .filter(({ objectId }) => this.#chain.object(objectId ?? "")?.owner.kind === "address")
      .map(({ objectId, version }) => `${objectId}@${version}`);
    for (const lock of locks) {
      if (!this.#locks.has(lock)) continue;
      throw new RpcFault(
        "FAILED_PRECONDITION",
        "Transaction is rejected as invalid by more than 1/3 of validators by stake " +
          `(non-retriable): Object ${lock.split("@")[0]} is reserved for another transaction`,
      );
    }
    for (const lock of locks) this.#locks.set(lock, digest);
    return locks;
  }

  async #run(
    transaction: GrpcTypes.Transaction,
    digest: string,
    signatures: readonly GrpcTypes.UserSignature[],
  ): Promise<GrpcTypes.ExecutedTransaction> {
    await this.consensus(digest);
    const program = programIn(transaction);
    const { sender = "", gasPayment } = transaction;
    const payment = gasPayment?.objects.map(({ objectId = "" }) => objectId) ?? [];
    const budget = gasPayment?.budget ?? 0n;
    const { tx, failure, gas } = runPaid(this.#chain, program, {
      sender,
      digest,
      payment,
      budget,
    });
    return this.#chain.ledger.commit(tx, {
      commands: commandNames(program),
      gasOwner: gasPayment?.owner ?? sender,
      gasCoin: payment[0],
      gas,
      failure,
      transaction,
      signatures,
    });
  }
}
