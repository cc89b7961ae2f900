import type { GrpcTypes } from "@mysten/sui/grpc";
import { normalizeSuiAddress } from "@mysten/sui/utils";
import { DevnetClock } from "./clock.ts";
import { coinBalance, coinBytes, coinObjectType } from "./coin.ts";
import { execute, type Publisher } from "./execute.ts";
import { ExecutionFailure } from "./failure.ts";
import { type FunctionImplementation, Functions, type FunctionSignature } from "./functions.ts";
import { SeededIds, textDigest } from "./ids.ts";
import { CLOCK_ID, clockObject } from "./clock_object.ts";
import { Ledger, type TransactionRecord } from "./ledger.ts";
import {
  type ChainObject,
  type FieldInfo,
  fieldSpec,
  IMMUTABLE,
  normalizeType,
  type ObjectSpec,
  ownedBy,
} from "./object.ts";
import { ObjectStore } from "./object_store.ts";
import { Tx } from "./tx.ts";
import type { Value } from "./value.ts";

/** Options of a {@linkcode Chain}. */
export interface ChainOptions {
  /** Decides the ids of what exists before the first transaction; 1 when absent. */
  readonly seed?: number;
  /** The time; the machine's when absent. */
  readonly clock?: DevnetClock;
}

/** What came of running a transaction without committing it. */
export interface DryRun {
  /** Its writes and events. */
  readonly tx: Tx;
  /** Results of the commands; empty when it failed. */
  readonly results: readonly (readonly Value[])[];
  /** Why it failed. */
  readonly failure?: ExecutionFailure;
}

/** Who runs a transaction, and what pays for it. */
export interface RunOptions {
  /** Address that signs. */
  readonly sender: string;
  /** Digest; new ids derive from it. */
  readonly digest: string;
  /** The coin that pays, for the GasCoin argument. */
  readonly gasCoin?: string | undefined;
}

/**
 * A chain of one process: objects, functions written in TypeScript, transactions and events.
 * It has no Move VM, no consensus and one constant gas price.
 */
export class Chain {
  /** The live objects. */
  readonly objects = new ObjectStore();
  /** Functions that transactions can call. */
  readonly functions = new Functions();
  /** Its time. */
  readonly clock: DevnetClock;
  /** Transactions, events and checkpoints. */
  readonly ledger: Ledger;
  /** Ids of what is put without a transaction. */
  readonly ids: SeededIds;
  /** Identifier of the chain: Base58 of 32 bytes. */
  readonly chainId: string;
  /** Ids that transactions of an earlier run have written or deleted. */
  readonly restored = new Set<string>();
  /** What a Publish command does. */
  publisher: Publisher | undefined;
  /** Current epoch; {@linkcode advanceEpoch} raises it. */
  epoch = 1n;
  /** When the current epoch began, milliseconds since the epoch of time. */
  epochStart: number;
  #system = 0;

  /** An empty chain with the clock object. */
  constructor({ seed = 1, clock = new DevnetClock() }: ChainOptions = {}) {
    this.clock = clock;
    this.ids = new SeededIds(seed);
    this.chainId = textDigest(`devnet ${seed}`);
    this.ledger = new Ledger(this);
    this.epochStart = clock.now();
  }

  /** Every committed transaction, oldest first: who sent it, and what it called. */
  get transactions(): readonly TransactionRecord[] {
    return this.ledger.records;
  }

  /** Milliseconds since the epoch. */
  now(): number {
    return this.clock.now();
  }

  /** Begins the next epoch. */
  advanceEpoch(): void {
    this.epoch++;
    this.epochStart = this.now();
  }

  /** The object of an id. The clock object always shows the present. */
  object(id: string): ChainObject | undefined {
    const key = normalizeSuiAddress(id);
    return key === CLOCK_ID ? clockObject(this.now(), this.ledger.height) : this.objects.get(key);
  }

  /** Writes an object outside any transaction: what exists from the start. Returns its id. */
  put(spec: ObjectSpec): string {
    const id = normalizeSuiAddress(spec.id);
    this.objects.set({
      id,
      type: normalizeType(spec.type),
      owner: spec.owner.kind === "shared" && spec.owner.since === 0n
        ? { kind: "shared", since: 1n }
        : spec.owner,
      bcs: spec.bcs,
      version: (this.objects.get(id)?.version ?? 0n) + 1n,
      previousTransaction: textDigest("genesis"),
      ...(spec.field === undefined ? {} : { field: spec.field }),
    });
    return id;
  }

  /** Writes a dynamic field outside any transaction. @param value BCS. */
  setField(info: FieldInfo, value: Uint8Array): string {
    return this.put(fieldSpec(info, value));
  }

  /** A new id, outside any transaction. */
  freshId(): string {
    return this.ids.next();
  }

  /** Makes a package exist. */
  publish(id: string): string {
    return this.put({ id, type: "package", owner: IMMUTABLE, bcs: new Uint8Array() });
  }

  /**
   * Registers a function.
   *
   * @param target `package::module::name`.
   * @param signature When given, arguments are checked and MovePackageService describes it.
   */
  fn(target: string, run: FunctionImplementation, signature?: FunctionSignature): void {
    this.functions.set(target, run, signature);
  }

  /**
   * Creates a coin. Returns its id. A coin that an earlier run has used stays as that run left it.
   *
   * @param amount In the smallest unit.
   */
  mint(owner: string, coinType: string, amount: bigint): string {
    const id = this.freshId();
    if (this.restored.has(id)) return id;
    return this.put({
      id,
      type: coinObjectType(coinType),
      owner: ownedBy(owner),
      bcs: coinBytes(id, amount),
    });
  }

  /** Balance of a coin object in its smallest unit. */
  coinBalance(object: Pick<ChainObject, "type" | "bcs">): bigint {
    return coinBalance(object);
  }

  /** Sum of an address' coins of a currency. */
  balanceOf(owner: string, coinType: string): bigint {
    const type = coinObjectType(coinType);
    return this.objects.ownedBy(normalizeSuiAddress(owner))
      .filter((object) => object.type === type)
      .reduce((sum, object) => sum + coinBalance(object), 0n);
  }

  /** A transaction to write into. */
  begin(sender: string, digest: string): Tx {
    return new Tx({
      object: (id) => this.object(id),
      sender: normalizeSuiAddress(sender),
      digest,
      now: this.now(),
      epoch: this.epoch,
    });
  }

  /** Runs a program in a transaction. Throws ExecutionFailure. */
  run(
    tx: Tx,
    program: GrpcTypes.ProgrammableTransaction,
    gasCoin?: string,
  ): readonly (readonly Value[])[] {
    return execute(program, { tx, functions: this.functions, gasCoin, publish: this.publisher });
  }

  /** Runs a transaction without committing it. Never throws ExecutionFailure. */
  dryRun(program: GrpcTypes.ProgrammableTransaction, options: RunOptions): DryRun {
    const tx = this.begin(options.sender, options.digest);
    try {
      return { tx, results: this.run(tx, program, options.gasCoin) };
    } catch (error) {
      if (error instanceof ExecutionFailure) return { tx, results: [], failure: error };
      throw error;
    }
  }

  /**
   * Runs and commits something as a transaction that nobody signs, for the parts of the devnet that
   * act on chain by themselves (a publisher, the faucet). No gas is charged.
   * What it throws is thrown on, and nothing is written.
   *
   * @param label Shown as the transaction's only command.
   */
  apply<T>(sender: string, label: string, run: (tx: Tx) => T): T {
    const digest = textDigest(`${this.chainId} ${label} ${this.ledger.height} ${this.#system++}`);
    const tx = this.begin(sender, digest);
    const result = run(tx);
    this.ledger.commit(tx, { commands: [label], gasOwner: tx.sender });
    return result;
  }
}
