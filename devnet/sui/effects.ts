import { GrpcTypes } from "@mysten/sui/grpc";
import { coinBalance, coinTypeOf } from "./coin.ts";
import type { ExecutionFailure } from "./failure.ts";
import { objectDigest } from "./ids.ts";
import type { ChainObject, Owner } from "./object.ts";

const { ChangedObject_InputObjectState: In, ChangedObject_OutputObjectState: Out } = GrpcTypes;
const { ChangedObject_IdOperation: IdOperation, Owner_OwnerKind: OwnerKind } = GrpcTypes;

/** An object before and after a transaction. */
export interface Change {
  /** Absent when the transaction created it. */
  readonly before?: ChainObject | undefined;
  /** Absent when the transaction deleted it. */
  readonly after?: ChainObject | undefined;
}

/** An owner as the protocol has it. */
export function protoOwner(owner: Owner): GrpcTypes.Owner {
  switch (owner.kind) {
    case "address":
      return { kind: OwnerKind.ADDRESS, address: owner.address };
    case "object":
      return { kind: OwnerKind.OBJECT, address: owner.parent };
    case "shared":
      return { kind: OwnerKind.SHARED, version: owner.since };
    case "immutable":
      return { kind: OwnerKind.IMMUTABLE };
    case "held":
      throw new TypeError("a held value has no owner on chain");
  }
}

/** A time as the protocol has it. @param ms Milliseconds since the epoch. */
export function protoTime(ms: number): GrpcTypes.ExecutedTransaction["timestamp"] & object {
  return { seconds: BigInt(Math.floor(ms / 1000)), nanos: Math.round(ms % 1000) * 1_000_000 };
}

/** A change as the protocol has it. */
export function protoChange({ before, after }: Change): GrpcTypes.ChangedObject {
  const shown = after ?? before;
  if (shown === undefined) throw new TypeError("a change of nothing");
  return {
    objectId: shown.id,
    objectType: shown.type,
    ...(before === undefined ? { inputState: In.DOES_NOT_EXIST } : {
      inputState: In.EXISTS,
      inputVersion: before.version,
      inputDigest: objectDigest(before),
      inputOwner: protoOwner(before.owner),
    }),
    ...(after === undefined ? { outputState: Out.DOES_NOT_EXIST } : {
      outputState: after.type === "package" ? Out.PACKAGE_WRITE : Out.OBJECT_WRITE,
      outputVersion: after.version,
      outputDigest: objectDigest(after),
      outputOwner: protoOwner(after.owner),
    }),
    idOperation: before === undefined
      ? IdOperation.CREATED
      : after === undefined
      ? IdOperation.DELETED
      : IdOperation.NONE,
  };
}

/** What addresses gained and lost, per currency. */
export function balanceChanges(changes: readonly Change[]): GrpcTypes.BalanceChange[] {
  const sums = new Map<string, { address: string; coinType: string; amount: bigint }>();
  const add = (object: ChainObject | undefined, sign: bigint) => {
    const coinType = object === undefined ? undefined : coinTypeOf(object.type);
    if (object?.owner.kind !== "address" || coinType === undefined) return;
    const { address } = object.owner;
    const sum = sums.get(address + coinType) ?? { address, coinType, amount: 0n };
    sum.amount += sign * coinBalance(object);
    sums.set(address + coinType, sum);
  };
  for (const { before, after } of changes) {
    add(before, -1n);
    add(after, 1n);
  }
  return [...sums.values()].filter(({ amount }) => amount !== 0n)
    .map((change) => ({ ...change, amount: String(change.amount) }));
}

/** What effects are made of. */
export interface EffectsInput {
  /** Digest of the transaction; empty in a simulation. */
  readonly digest: string;
  /** Epoch it ran in. */
  readonly epoch: bigint;
  /** Version of what it wrote. */
  readonly version: bigint;
  /** Gas in MIST. */
  readonly gas: bigint;
  /** The coin that paid. */
  readonly gasCoin?: string | undefined;
  /** What it wrote. */
  readonly changes: readonly Change[];
  /** Why it failed. */
  readonly failure?: ExecutionFailure | undefined;
}

/** Effects as the protocol has them; all gas counts as computation. */
export function protoEffects(input: EffectsInput): GrpcTypes.TransactionEffects {
  const changedObjects = input.changes.map(protoChange);
  const gasObject = changedObjects.find(({ objectId }) => objectId === input.gasCoin);
  const { failure } = input;
  return {
    version: 2,
    status: failure === undefined
      ? { success: true }
      : { success: false, error: failure.toProto() },
    epoch: input.epoch,
    transactionDigest: input.digest,
    gasUsed: {
      computationCost: input.gas,
      storageCost: 0n,
      storageRebate: 0n,
      nonRefundableStorageFee: 0n,
    },
    ...(gasObject === undefined ? {} : { gasObject }),
    dependencies: [],
    lamportVersion: input.version,
    changedObjects,
    unchangedConsensusObjects: [],
    unchangedLoadedRuntimeObjects: [],
  };
}
