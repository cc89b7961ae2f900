import { ExecutionFailure } from "./failure.ts";
import type { ChainFunction, Parameter } from "./functions.ts";
import { normalizeType } from "./object.ts";
import type { Tx } from "./tx.ts";
import type { Value } from "./value.ts";

/** Bytes of the BCS of a primitive. */
const SIZES: Readonly<Record<string, number>> = {
  bool: 1,
  u8: 1,
  u16: 2,
  u32: 4,
  u64: 8,
  u128: 16,
  u256: 32,
  address: 32,
};

/** Structs whose values may be given as pure bytes. */
const PURE_STRUCTS = new Set(
  ["0x1::string::String", "0x1::ascii::String", "0x2::object::ID"].map(normalizeType),
);

function fail(index: number, description: string): never {
  throw new ExecutionFailure("COMMAND_ARGUMENT_ERROR", `argument ${index}: ${description}`);
}

function takesPure(type: string): boolean {
  return type in SIZES || PURE_STRUCTS.has(type) || type.startsWith("vector<") ||
    type.startsWith(normalizeType("0x1::option::Option"));
}

/** The declared type with type arguments in place of parameters. */
function concrete(type: string, typeArguments: readonly string[]): string {
  if (!type.includes("$")) return type;
  return normalizeType(type.replace(/\$(\d+)/g, (_, n: string) => typeArguments[Number(n)] ?? "?"));
}

function checkObject(
  tx: Tx,
  index: number,
  id: string,
  parameter: Parameter & { readonly wanted: string },
  readOnly: ReadonlySet<string>,
): void {
  const object = tx.get(id);
  if (object.type !== parameter.wanted) {
    fail(index, `type mismatch: expected ${parameter.wanted}, found ${object.type}`);
  }
  if (parameter.passing === "reference") return;
  if (object.owner.kind === "immutable" || readOnly.has(id)) {
    fail(index, "the object may only be read in this transaction");
  }
}

/**
 * Checks arguments against the declared parameters: their number, the exact type of objects, the
 * size of primitives, and that nothing read-only is written. Functions without a declaration take
 * anything. Throws an ExecutionFailure.
 *
 * @param readOnly Ids of shared inputs that the transaction asked to read only.
 */
export function checkArguments(
  tx: Tx,
  { parameters, target }: ChainFunction,
  args: readonly Value[],
  typeArguments: readonly string[],
  readOnly: ReadonlySet<string>,
): void {
  if (parameters === undefined) return;
  if (args.length !== parameters.length) {
    throw new ExecutionFailure(
      "ARITY_MISMATCH",
      `${target} takes ${parameters.length} arguments, not ${args.length}`,
    );
  }
  for (const [index, parameter] of parameters.entries()) {
    const value = args[index];
    const wanted = concrete(parameter.type, typeArguments);
    if (value === undefined) continue;
    if (value.kind === "object") {
      checkObject(tx, index, value.id, { ...parameter, wanted }, readOnly);
    } else if (value.kind === "pure") {
      if (!takesPure(wanted)) fail(index, `expected an object of type ${wanted}`);
      const size = SIZES[wanted];
      if (size !== undefined && value.bytes.length !== size) {
        fail(index, `expected ${size} bytes of ${wanted}`);
      }
    } else if (value.kind === "data" && normalizeType(value.type) !== wanted) {
      fail(index, `type mismatch: expected ${wanted}, found ${value.type}`);
    }
  }
}
