import { SvcError } from "../errors.ts";
import { BcsReader, NotBcs } from "./bcs_reader.ts";

/** Functions of the module `account` whose gas is paid (docs/protocol.md#9.1). */
export const SPONSORED_FUNCTIONS: readonly string[] = [
  "create_account",
  "add_delegate_key",
  "add_bound_key",
  "remove_delegate_key",
  "deactivate_account",
  "reactivate_account",
];

const MODULE = "account";
const FIELD = "transactionBlockKindBytes";

/** Tags of the enums of `sui-types/src/transaction.rs` that are let through. */
const PROGRAMMABLE = 0;
const PURE = 0;
const OBJECT = 1;
const SHARED = 1;
const MOVE_CALL = 0;
const INPUT = 1;
/** Highest tag each enum has today: what lies above is no transaction. */
const LAST = { kind: 10, callArg: 2, objectArg: 2, command: 6, argument: 3 } as const;

const refused = (text: string) => new SvcError("move_call_not_allowed", text, { field: FIELD });

/** The tag of an enum, when it is the one that is let through. */
function only(reader: BcsReader, allowed: number, last: number, text: string): void {
  const tag = reader.uleb();
  if (tag > last) throw new NotBcs();
  if (tag !== allowed) throw refused(text);
}

/**
 * An input: a pure value, or a shared object. None of the functions takes an object of the sender;
 * one that is spent elsewhere meanwhile would lock the gas coin, and a withdrawal could take the
 * sponsor's balance.
 */
function readInput(reader: BcsReader): void {
  const tag = reader.uleb();
  if (tag > LAST.callArg) throw new NotBcs();
  if (tag === PURE) return void reader.bytes();
  if (tag !== OBJECT) throw refused("A withdrawal of funds is not sponsored");
  only(reader, SHARED, LAST.objectArg, "Only shared objects may be used");
  reader.address();
  reader.u64();
  // Whether it is mutable: a byte that is 0 or 1.
  if (reader.uleb() > 1) throw new NotBcs();
}

function readCall(reader: BcsReader, packageId: string, inputs: number): void {
  only(reader, MOVE_CALL, LAST.command, "Only calls of account functions are sponsored");
  const called = reader.address();
  const module = reader.text();
  const name = reader.text();
  if (called !== packageId || module !== MODULE || !SPONSORED_FUNCTIONS.includes(name)) {
    throw refused("Only calls of account functions are sponsored");
  }
  if (reader.uleb() !== 0) throw refused("The account functions take no type arguments");
  for (let count = reader.uleb(); count > 0; count--) {
    // The gas coin is the sponsor's; the results of these functions are empty.
    only(reader, INPUT, LAST.argument, "Only inputs may be arguments");
    if (reader.u16() >= inputs) throw new NotBcs();
  }
}

/**
 * Lets a transaction kind through that is a programmable block made only of calls to account
 * functions of a package.
 *
 * The decoder is our own: it knows the few forms that are allowed and refuses everything else, and
 * the relayer's start loads no package for it.
 *
 * @param bytes BCS of a `TransactionKind`.
 * @param packageId `0x` and 64 lower-case hex characters.
 * @throws {SvcError} `move_call_not_allowed`; `invalid_transaction` for bytes that are no such BCS.
 */
export function checkSponsoredKind(bytes: Uint8Array, packageId: string): void {
  const reader = new BcsReader(bytes);
  try {
    only(reader, PROGRAMMABLE, LAST.kind, "Only programmable transactions are sponsored");
    const inputs = reader.uleb();
    for (let i = 0; i < inputs; i++) readInput(reader);
    const commands = reader.uleb();
    if (commands === 0) throw refused("There is no call to pay for");
    for (let i = 0; i < commands; i++) readCall(reader, packageId, inputs);
    reader.end();
  } catch (error) {
    if (!(error instanceof NotBcs)) throw error;
    throw new SvcError("invalid_transaction", undefined, { field: FIELD });
  }
}
