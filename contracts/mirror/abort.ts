/** Abort codes of `svc::account`, by the names of its constants. */
export const ABORT = {
  ENotOwner: 1,
  EBadKey: 2,
  EBadProof: 3,
  EKeyTaken: 4,
  ENoKey: 5,
  ETooMany: 6,
  ELabel: 7,
  EInactive: 8,
  EExists: 9,
  EVersion: 10,
  EPermissions: 11,
  EExpiry: 12,
  ENoOffer: 13,
  ENamespaces: 14,
  ENoAccess: 100,
  EBadId: 101,
} as const;

/** Name of an abort code. */
export type AbortName = keyof typeof ABORT;

/** What the Move VM answers when an assertion of the contract fails; nothing was changed then. */
export class MoveAbort extends Error {
  /** Always `"MoveAbort"`. */
  override readonly name = "MoveAbort";
  /** The number, as in {@linkcode ABORT}. */
  readonly code: number;
  /** Module and entry function, such as `account::seal_approve`. */
  readonly location: string;

  /** Constructs an abort of an entry function. */
  constructor(name: AbortName, entry: string) {
    super(`MoveAbort ${ABORT[name]} (${name}) in account::${entry}`);
    this.code = ABORT[name];
    this.location = `account::${entry}`;
  }
}
