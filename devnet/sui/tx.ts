import { deriveDynamicFieldID, normalizeSuiAddress } from "@mysten/sui/utils";
import { coinBalance, coinBytes } from "./coin.ts";
import { ExecutionFailure } from "./failure.ts";
import { createdId } from "./ids.ts";
import {
  type ChainObject,
  type FieldInfo,
  fieldSpec,
  normalizeType,
  type ObjectSpec,
} from "./object.ts";

/** An event that a transaction emits. */
export interface EmittedEvent {
  /** Package of the module that emits it. */
  readonly packageId: string;
  /** Module that emits it. */
  readonly module: string;
  /** Canonical type of the event. */
  readonly type: string;
  /** BCS of the event. */
  readonly bcs: Uint8Array;
  /** Sender of the transaction. */
  readonly sender: string;
}

/** Who sends a transaction. */
export interface TxSource {
  /** A committed object by its normalized id. */
  readonly object: (id: string) => ChainObject | undefined;
  /** Normalized address. */
  readonly sender: string;
  /** Digest; new ids derive from it. */
  readonly digest: string;
  /** Milliseconds since the epoch, as the clock object shows them. */
  readonly now: number;
  /** Epoch of the chain. */
  readonly epoch: bigint;
}

/**
 * One transaction in flight. Functions read and write through it; what they write becomes visible
 * to others only when the whole transaction succeeds.
 */
export class Tx {
  /** Address that signs. */
  readonly sender: string;
  /** Digest of the transaction. */
  readonly digest: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Epoch of the chain. */
  readonly epoch: bigint;
  /** What it emitted so far, in order. */
  readonly events: EmittedEvent[] = [];
  /** What it wrote: an object, or null where it deleted one. */
  readonly written = new Map<string, ChainObject | null>();
  readonly #committed: (id: string) => ChainObject | undefined;
  #created = 0;

  /** A transaction over what is committed. */
  constructor({ object, sender, digest, now, epoch }: TxSource) {
    this.#committed = object;
    this.sender = sender;
    this.digest = digest;
    this.now = now;
    this.epoch = epoch;
  }

  /** The object, as this transaction sees it. Throws an ExecutionFailure when it is absent. */
  get(id: string): ChainObject {
    const found = this.tryGet(id);
    if (found === undefined) {
      throw new ExecutionFailure("COMMAND_ARGUMENT_ERROR", `object ${id} does not exist`);
    }
    return found;
  }

  /** The object, as this transaction sees it. */
  tryGet(id: string): ChainObject | undefined {
    const key = normalizeSuiAddress(id);
    const written = this.written.get(key);
    return written === undefined ? this.#committed(key) : written ?? undefined;
  }

  /** Creates or replaces an object; returns its normalized id. */
  put(spec: ObjectSpec): string {
    const id = normalizeSuiAddress(spec.id);
    this.written.set(id, {
      id,
      type: normalizeType(spec.type),
      owner: spec.owner,
      bcs: spec.bcs,
      version: this.tryGet(id)?.version ?? 0n,
      previousTransaction: this.digest,
      ...(spec.field === undefined ? {} : { field: spec.field }),
    });
    return id;
  }

  /** Replaces the content of an object, keeping type and owner. */
  setContent(id: string, bcs: Uint8Array): void {
    this.put({ ...this.get(id), bcs });
  }

  /** Deletes an object. Throws an ExecutionFailure when it is absent. */
  del(id: string): void {
    this.written.set(this.get(id).id, null);
  }

  /** An id for a new object: unique, the same for the same transaction. */
  freshId(): string {
    return createdId(this.digest, this.#created++);
  }

  /** Balance of a coin object. */
  coinBalance(id: string): bigint {
    return coinBalance(this.get(id));
  }

  /** Sets the balance of a coin object. */
  setBalance(id: string, balance: bigint): void {
    const coin = this.get(id);
    this.setContent(id, coinBytes(coin.id, balance));
  }

  /**
   * Takes an amount from a coin, as `0x2::balance::split` does.
   * Throws an ExecutionFailure when the coin holds less.
   */
  takeFrom(coin: string, amount: bigint): void {
    const balance = this.coinBalance(coin);
    if (balance < amount) {
      throw new ExecutionFailure("INSUFFICIENT_COIN_BALANCE", "insufficient coin balance");
    }
    this.setBalance(coin, balance - amount);
  }

  /** Writes a dynamic field; `value` is BCS. Returns the field's id. */
  setField(info: FieldInfo, value: Uint8Array): string {
    return this.put(fieldSpec(info, value));
  }

  /** BCS of a dynamic field's value; undefined when there is none of that name. */
  getField(parent: string, nameType: string, name: Uint8Array): Uint8Array | undefined {
    return this.tryGet(deriveDynamicFieldID(normalizeSuiAddress(parent), nameType, name))
      ?.bcs.slice(32 + name.length);
  }

  /** Removes a dynamic field. Throws an ExecutionFailure when there is none of that name. */
  delField(parent: string, nameType: string, name: Uint8Array): void {
    this.del(deriveDynamicFieldID(normalizeSuiAddress(parent), nameType, name));
  }

  /**
   * Emits an event of a struct of the emitting module.
   *
   * @param bcs BCS of the event.
   */
  emit(packageId: string, module: string, name: string, bcs: Uint8Array): void {
    const id = normalizeSuiAddress(packageId);
    this.events.push({
      packageId: id,
      module,
      type: normalizeType(`${id}::${module}::${name}`),
      bcs,
      sender: this.sender,
    });
  }
}
