import type { GrpcTypes } from "@mysten/sui/grpc";
import { balanceChanges, type Change, protoEffects, protoTime } from "./effects.ts";
import type { ExecutionFailure } from "./failure.ts";
import type { ChainObject } from "./object.ts";
import type { ObjectStore } from "./object_store.ts";
import type { EmittedEvent, Tx } from "./tx.ts";

/** A committed event. */
export interface ChainEvent extends EmittedEvent {
  /** Digest of its transaction. */
  readonly digest: string;
  /** Position in its transaction. */
  readonly index: number;
  /** Checkpoint of its transaction. */
  readonly checkpoint: number;
}

/** A committed transaction, for listings and assertions. */
export interface TransactionRecord {
  /** Digest. */
  readonly digest: string;
  /** Address that signed. */
  readonly sender: string;
  /** Address that paid. */
  readonly gasOwner: string;
  /** Its commands: `package::module::function` of calls, else the command's name. */
  readonly commands: readonly string[];
  /** Whether it succeeded. */
  readonly success: boolean;
  /** Gas charged in MIST. */
  readonly gas: bigint;
  /** Its checkpoint: one for every transaction. */
  readonly checkpoint: number;
}

/** What a commit needs beside the writes. */
export interface CommitOptions {
  /** See {@linkcode TransactionRecord.commands}. */
  readonly commands: readonly string[];
  /** Address that pays. */
  readonly gasOwner: string;
  /** The coin that pays. */
  readonly gasCoin?: string | undefined;
  /** Gas charged in MIST; 0 when absent. The coin has been charged in the writes. */
  readonly gas?: bigint;
  /** Why it failed; the writes are then only those of the gas. */
  readonly failure?: ExecutionFailure | undefined;
  /** The signed transaction, as lookups return it. */
  readonly transaction?: GrpcTypes.Transaction;
  /** Its signatures. */
  readonly signatures?: readonly GrpcTypes.UserSignature[];
}

/** What the ledger needs of its chain. */
export interface LedgerChain {
  /** The live objects. */
  readonly objects: ObjectStore;
  /** Current epoch. */
  readonly epoch: bigint;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Called after every commit. */
export type CommitListener = (record: TransactionRecord, events: readonly ChainEvent[]) => void;

/** Commits transactions and keeps their history. */
export class Ledger {
  /** Every committed transaction, oldest first. */
  readonly records: TransactionRecord[] = [];
  /** Every event, oldest first. */
  readonly events: ChainEvent[] = [];
  /** Transactions by digest, as lookups return them. */
  readonly transactions = new Map<string, GrpcTypes.ExecutedTransaction>();
  readonly #chain: LedgerChain;
  readonly #listeners = new Set<CommitListener>();

  /** The ledger of a chain. */
  constructor(chain: LedgerChain) {
    this.#chain = chain;
  }

  /** Number of the last checkpoint; every transaction makes one. */
  get height(): number {
    return this.records.length + 1;
  }

  /** The transaction of a checkpoint; the first checkpoint has none. */
  recordAt(checkpoint: number): TransactionRecord | undefined {
    return this.records[checkpoint - 2];
  }

  /** Calls back after every commit, until the returned function is called. */
  watch(listener: CommitListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Appends a transaction of an earlier run; its writes are restored apart from it. */
  restore(
    record: TransactionRecord,
    events: readonly ChainEvent[],
    executed: GrpcTypes.ExecutedTransaction,
  ): void {
    this.records.push(record);
    this.events.push(...events);
    this.transactions.set(record.digest, executed);
  }

  /** Writes what a transaction did: the objects get its version, its events join the others. */
  commit(tx: Tx, options: CommitOptions): GrpcTypes.ExecutedTransaction {
    const { objects } = this.#chain;
    const version = lamport(tx, objects);
    const changes: Change[] = [];
    for (const [id, written] of tx.written) {
      const before = objects.get(id);
      const after = written === null ? undefined : finished(written, version);
      if (before === undefined && after === undefined) continue;
      if (after === undefined) objects.delete(id);
      else objects.set(after);
      changes.push({ before, after });
    }
    const { failure, gas = 0n } = options;
    const record: TransactionRecord = {
      digest: tx.digest,
      sender: tx.sender,
      gasOwner: options.gasOwner,
      commands: options.commands,
      success: failure === undefined,
      gas,
      checkpoint: this.height + 1,
    };
    const events = tx.events.map((event, index): ChainEvent => ({
      ...event,
      digest: tx.digest,
      index,
      checkpoint: record.checkpoint,
    }));
    const { epoch } = this.#chain;
    const { gasCoin } = options;
    const executed: GrpcTypes.ExecutedTransaction = {
      digest: tx.digest,
      ...(options.transaction === undefined ? {} : { transaction: options.transaction }),
      signatures: [...options.signatures ?? []],
      effects: protoEffects({ digest: tx.digest, epoch, version, gas, gasCoin, changes, failure }),
      events: { events: events.map(protoEvent) },
      checkpoint: BigInt(record.checkpoint),
      timestamp: protoTime(this.#chain.now()),
      balanceChanges: balanceChanges(changes),
    };
    this.records.push(record);
    this.events.push(...events);
    this.transactions.set(tx.digest, executed);
    for (const listener of this.#listeners) listener(record, events);
    return executed;
  }
}

/** One more than the highest version the transaction writes over. */
export function lamport(tx: Tx, objects: ObjectStore): bigint {
  let highest = 0n;
  for (const id of tx.written.keys()) {
    const version = objects.get(id)?.version ?? 0n;
    if (version > highest) highest = version;
  }
  return highest + 1n;
}

/** An object as it is committed: at the transaction's version, shared since then if it is new. */
export function finished(object: ChainObject, version: bigint): ChainObject {
  const { owner } = object;
  return {
    ...object,
    version,
    owner: owner.kind === "shared" && owner.since === 0n ? { ...owner, since: version } : owner,
  };
}

/** An event as the protocol has it. */
export function protoEvent(event: ChainEvent): GrpcTypes.Event {
  return {
    packageId: event.packageId,
    module: event.module,
    sender: event.sender,
    eventType: event.type,
    contents: { name: event.type, value: event.bcs },
    checkpoint: BigInt(event.checkpoint),
    transactionDigest: event.digest,
    eventIndex: event.index,
  };
}
