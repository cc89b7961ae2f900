import { bcs } from "@mysten/sui/bcs";
import { accountType } from "../../plugins/sui/chain/account_object.ts";
import {
  acceptOwnership,
  addBoundKey,
  addDelegateKey,
  closeAccount,
  createAccount,
  deactivateAccount,
  migrateAccount,
  offerOwnership,
  reactivateAccount,
  removeDelegateKey,
  sealApprove,
  sealApproveNamespace,
  withdrawOffer,
} from "./account.ts";
import type { World } from "./state.ts";

/** How an entry function takes an object: by reference, by mutable reference, by value. */
export type ObjectUse = "read" | "write" | "consume";

/** Move type of a value that a transaction carries itself. */
export type PureType = "vector<u8>" | "u8" | "u64" | "address" | "string" | "vector<string>";

/** A parameter of an entry function; the `TxContext` at the end is not one. */
export type EntryParameter =
  | { readonly object: "Registry" | "SvcAccount" | "Clock"; readonly use: ObjectUse }
  | { readonly pure: PureType };

/** An argument of a call: BCS, or an object as the chain found it. */
export type EntryArgument =
  | { readonly pure: Uint8Array }
  | { readonly object: { readonly id: string; readonly type: string } };

/** An entry function of module `account`. */
export interface EntryFunction {
  /** The first version of the contract that has it; 1 when absent. */
  readonly since?: bigint;
  /** In the order of the Move source. */
  readonly parameters: readonly EntryParameter[];
  /** Runs it with decoded arguments: bytes, numbers and ids. */
  run(world: World, args: DecodedArguments): void;
}

/** What a transaction gets wrong before any Move code runs; real nodes: `CommandArgumentError`. */
export class ArgumentError extends Error {
  /** Always `"ArgumentError"`. */
  override readonly name = "ArgumentError";
  /** Position of the argument, from 0. */
  readonly index: number;
  /** The node's name of the fault. */
  readonly kind: "TypeMismatch" | "InvalidBcsBytes" | "ArityMismatch";

  /** Constructs an error of one argument. */
  constructor(index: number, kind: ArgumentError["kind"]) {
    super(`${kind} in argument ${index}`);
    this.index = index;
    this.kind = kind;
  }
}

const REGISTRY: EntryParameter = { object: "Registry", use: "write" };
const ACCOUNT: EntryParameter = { object: "SvcAccount", use: "write" };
const CLOCK: EntryParameter = { object: "Clock", use: "read" };
const BYTES: EntryParameter = { pure: "vector<u8>" };

/** Decoded arguments of a call, by position from 0. */
export class DecodedArguments {
  readonly #values: readonly unknown[];

  /** Takes what the parameters' codecs answered; ids where a parameter is an object. */
  constructor(values: readonly unknown[]) {
    this.#values = values;
  }

  /** Object id, address or string. */
  text(index: number): string {
    return String(this.#values[index]);
  }

  /** A `vector<u8>`. */
  bytes(index: number): Uint8Array {
    const value = this.#values[index];
    if (!(value instanceof Uint8Array)) throw new ArgumentError(index, "TypeMismatch");
    return value;
  }

  /** A `vector<String>`. */
  texts(index: number): string[] {
    const value = this.#values[index];
    if (!Array.isArray(value)) throw new ArgumentError(index, "TypeMismatch");
    return value.map(String);
  }

  /** A `u8`. */
  number(index: number): number {
    return Number(this.#values[index]);
  }

  /** A `u64`. */
  big(index: number): bigint {
    return BigInt(this.text(index));
  }
}

/** Every entry function by name, in the order of the Move source. */
export const ENTRY_FUNCTIONS: Readonly<Record<string, EntryFunction>> = {
  create_account: {
    parameters: [REGISTRY, CLOCK],
    run: (world) => void createAccount(world),
  },
  add_delegate_key: {
    parameters: [
      REGISTRY,
      ACCOUNT,
      BYTES,
      BYTES,
      { pure: "u8" },
      { pure: "u64" },
      { pure: "string" },
      CLOCK,
    ],
    run: (world, args) =>
      addDelegateKey(world, args.text(1), {
        publicKey: args.bytes(2),
        proof: args.bytes(3),
        permissions: args.number(4),
        expiresAt: args.big(5),
        label: args.text(6),
      }),
  },
  add_bound_key: {
    since: 2n,
    parameters: [
      REGISTRY,
      ACCOUNT,
      BYTES,
      BYTES,
      { pure: "u8" },
      { pure: "u64" },
      { pure: "string" },
      { pure: "vector<string>" },
      CLOCK,
    ],
    run: (world, args) =>
      addBoundKey(world, args.text(1), {
        publicKey: args.bytes(2),
        proof: args.bytes(3),
        permissions: args.number(4),
        expiresAt: args.big(5),
        label: args.text(6),
        namespaces: args.texts(7),
      }),
  },
  remove_delegate_key: {
    parameters: [REGISTRY, ACCOUNT, BYTES],
    run: (world, args) => removeDelegateKey(world, args.text(1), args.bytes(2)),
  },
  deactivate_account: {
    parameters: [ACCOUNT],
    run: (world, args) => deactivateAccount(world, args.text(0)),
  },
  reactivate_account: {
    parameters: [ACCOUNT],
    run: (world, args) => reactivateAccount(world, args.text(0)),
  },
  offer_ownership: {
    parameters: [{ object: "Registry", use: "read" }, ACCOUNT, { pure: "address" }],
    run: (world, args) => offerOwnership(world, args.text(1), args.text(2)),
  },
  withdraw_offer: {
    parameters: [ACCOUNT],
    run: (world, args) => withdrawOffer(world, args.text(0)),
  },
  accept_ownership: {
    parameters: [REGISTRY, ACCOUNT],
    run: (world, args) => acceptOwnership(world, args.text(1)),
  },
  close_account: {
    parameters: [REGISTRY, { object: "SvcAccount", use: "consume" }],
    run: (world, args) => closeAccount(world, args.text(1)),
  },
  migrate_account: {
    parameters: [ACCOUNT],
    run: (world, args) => migrateAccount(world, args.text(0)),
  },
  seal_approve: {
    parameters: [BYTES, { object: "SvcAccount", use: "read" }, CLOCK],
    run: (world, args) => sealApprove(world, args.text(1), args.bytes(0)),
  },
  seal_approve_namespace: {
    since: 2n,
    parameters: [BYTES, BYTES, BYTES, { object: "SvcAccount", use: "read" }, CLOCK],
    run: (world, args) => {
      const named = { owner: args.bytes(1), namespace: args.bytes(2) };
      sealApproveNamespace(world, args.text(3), args.bytes(0), named);
    },
  },
};

const CLOCK_TYPE = `0x${"2".padStart(64, "0")}::clock::Clock`;

/** Types with every address in its long form. */
function normalized(type: string): string {
  return type.replace(
    /0x([0-9a-fA-F]+)/g,
    (_, hex: string) => "0x" + hex.toLowerCase().padStart(64, "0"),
  );
}

/** Exact type an object must have for a parameter. */
function typeOf(packageId: string, object: "Registry" | "SvcAccount" | "Clock"): string {
  if (object === "Clock") return CLOCK_TYPE;
  const type = object === "SvcAccount" ? accountType(packageId) : `${packageId}::account::Registry`;
  return normalized(type);
}

const utf8 = (bytes: Iterable<number>) =>
  new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(new Uint8Array(bytes));

const CODECS: Readonly<Record<PureType, { parse(bytes: Uint8Array): unknown }>> = {
  "vector<u8>": bcs.byteVector(),
  u8: bcs.u8(),
  u64: bcs.u64(),
  address: bcs.Address,
  string: {
    parse: (bytes) => utf8(bcs.byteVector().parse(bytes)),
  },
  "vector<string>": {
    parse: (bytes) => bcs.vector(bcs.byteVector()).parse(bytes).map(utf8),
  },
};

/** Bytes that follow a value are as bad as missing ones; so are lengths that are not minimal. */
function isWhole(type: PureType, value: unknown, bytes: Uint8Array): boolean {
  if (type === "u8") return bytes.length === 1;
  if (type === "u64") return bytes.length === 8;
  if (type === "address") return bytes.length === 32;
  if (Array.isArray(value)) {
    return bcs.vector(bcs.string()).serialize(value).toBytes().toHex() === bytes.toHex();
  }
  const raw = typeof value === "string" ? new TextEncoder().encode(value) : value as Uint8Array;
  return bcs.byteVector().serialize(raw).toBytes().toHex() === bytes.toHex();
}

function decode(type: PureType, bytes: Uint8Array, index: number): unknown {
  try {
    const value = CODECS[type].parse(bytes);
    if (isWhole(type, value, bytes)) return value;
  } catch {
    // Not a value of the type.
  }
  throw new ArgumentError(index, "InvalidBcsBytes");
}

/**
 * Calls an entry function the way a transaction does: checks number, types and encoding of the
 * arguments, then runs it. The `TxContext` is left out.
 *
 * @param packageId Package whose types the objects must have exactly.
 * @throws {ArgumentError} when the arguments do not fit; no Move code ran.
 * @throws {MoveAbort} when an assertion of the contract fails; the world is as before.
 */
export function callEntry(
  packageId: string,
  name: string,
  world: World,
  args: readonly EntryArgument[],
): void {
  const entry = ENTRY_FUNCTIONS[name];
  if (entry === undefined || args.length !== entry.parameters.length) {
    throw new ArgumentError(args.length, "ArityMismatch");
  }
  const values = entry.parameters.map((parameter, index) => {
    const arg = args[index]!;
    if ("pure" in parameter) {
      if (!("pure" in arg)) throw new ArgumentError(index, "TypeMismatch");
      return decode(parameter.pure, arg.pure, index);
    }
    const fits = "object" in arg &&
      normalized(arg.object.type) === typeOf(packageId, parameter.object);
    if (!fits) throw new ArgumentError(index, "TypeMismatch");
    return arg.object.id;
  });
  entry.run(world, new DecodedArguments(values));
}
