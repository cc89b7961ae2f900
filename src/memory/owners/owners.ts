import { SvcError } from "../../errors.ts";

/** Says that a request, or other work for an owner, is under way: until then the owner stays here. */
export interface OwnerHold extends Disposable {
  /**
   * Makes durable what was noted of the owner; to be awaited before anybody is told of it.
   *
   * @throws {SvcError} `storage_unavailable`; what was noted is lost.
   */
  settled(): Promise<void>;
}

/** Lets this relayer work for an owner, which it does alone meanwhile. */
export interface Owners {
  /**
   * Waits until this relayer has the owner.
   *
   * @throws {SvcError} `overloaded` when another one keeps it too long; `storage_unavailable`.
   */
  hold(owner: string): Promise<OwnerHold>;
  /** Takes the owner unless another relayer has it, of which nothing is asked; `undefined` then. */
  holdFree(owner: string): Promise<OwnerHold | undefined>;
  /** The hold of an owner that this relayer has at this moment. */
  holdOwn(owner: string): OwnerHold | undefined;
  /** The same for a job, which does not keep the owner here for as long as it may take. */
  holdForJob(owner: string): OwnerHold | undefined;
  /**
   * Makes durable what was noted of an owner.
   *
   * @throws {SvcError} as {@linkcode OwnerHold.settled}.
   */
  settled(owner: string): Promise<void>;
  /**
   * To be called when nobody knows whether jobs of an owner were written: whoever asks next reads anew
   * what there is.
   */
  doubt(owner: string): void;
  /** What there is to tell operators; absent where one relayer has every owner. */
  state?(): OwnersState;
}

/** Which owners a relayer has. */
export interface OwnersState {
  /** How many. */
  readonly count: number;
  /** Since when it is not sure of them: seconds since its leases were renewed. */
  readonly leaseAge: number;
}

/** Doubts behind a failed write of jobs what is known of their owner, where it may have been written. */
export function doubtAfter(owners: Pick<Owners, "doubt">, owner: string, error: unknown): void {
  if (SvcError.from(error).code === "storage_unavailable") owners.doubt(owner);
}

const NOTHING: Promise<void> = Promise.resolve();
const NO_HOLD: OwnerHold = { settled: () => NOTHING, [Symbol.dispose]() {} };

/** Where one relayer has every owner, and what it notes is durable at once. */
export const ALL_OWNERS: Owners = {
  hold: () => Promise.resolve(NO_HOLD),
  holdFree: () => Promise.resolve(NO_HOLD),
  holdOwn: () => NO_HOLD,
  holdForJob: () => NO_HOLD,
  settled: () => NOTHING,
  // Its one store looks itself what a write without an answer did.
  doubt() {},
};
