import { bcs } from "@mysten/sui/bcs";

/** Package whose calls are paid for. */
export const PACKAGE = `0x${"ac".repeat(32)}`;
/** Somebody. */
export const SENDER = `0x${"5e".repeat(32)}`;

const DIGEST = "11111111111111111111111111111111";
const id = (byte: string) => `0x${byte.repeat(32)}`;

/** An input as the schema of `CallArg` takes it. */
export type Input = typeof bcs.CallArg.$inferInput;
/** A command as the schema of `Command` takes it. */
export type Command = typeof bcs.Command.$inferInput;
/** An argument as the schema of `Argument` takes it. */
export type Argument = typeof bcs.Argument.$inferInput;

/** The registry, an account, the clock. */
export const SHARED: Input = {
  Object: { SharedObject: { objectId: id("aa"), initialSharedVersion: "7", mutable: true } },
};
/** An object of the sender. */
export const OWNED: Input = {
  Object: { ImmOrOwnedObject: { objectId: id("bb"), version: "3", digest: DIGEST } },
};
/** An object sent to another one. */
export const RECEIVING: Input = {
  Object: { Receiving: { objectId: id("bb"), version: "3", digest: DIGEST } },
};
/** A pure value. */
export const PURE: Input = { Pure: { bytes: Uint8Array.of(1, 2, 3) } };
/** SUI out of the sponsor's balance. */
export const WITHDRAWAL: Input = {
  FundsWithdrawal: {
    reservation: { MaxAmountU64: "1000" },
    typeArg: { Balance: "0x2::sui::SUI" },
    withdrawFrom: { Sponsor: true },
  },
};

/** A call of an account function, changed at will. */
export function call(
  change: Partial<Parameters<typeof bcs.ProgrammableMoveCall.serialize>[0]> = {},
): Command {
  return {
    MoveCall: {
      package: PACKAGE,
      module: "account",
      function: "create_account",
      typeArguments: [],
      arguments: [{ Input: 0 }, { Input: 1 }],
      ...change,
    },
  };
}

/** BCS of a programmable block. */
export function kind(
  commands: readonly Command[] = [call()],
  inputs: readonly Input[] = [SHARED, PURE],
): Uint8Array<ArrayBuffer> {
  return bcs.TransactionKind.serialize({
    ProgrammableTransaction: { inputs: [...inputs], commands: [...commands] },
  }).toBytes() as Uint8Array<ArrayBuffer>;
}
