import { ExecutionFailure } from "./failure.ts";

/** An argument or a result of a command. */
export type Value =
  /** BCS of a primitive, of a string or of a vector of them. */
  | { readonly kind: "pure"; readonly bytes: Uint8Array }
  /** An object by its id: of the chain, or made by an earlier command. */
  | { readonly kind: "object"; readonly id: string }
  /** A struct without an id that commands pass on. */
  | { readonly kind: "data"; readonly type: string; readonly data: unknown }
  | { readonly kind: "vector"; readonly elements: readonly Value[] };

/** A value of BCS bytes. */
export function pure(bytes: Uint8Array): Value {
  return { kind: "pure", bytes };
}

/** A value that is an object. */
export function objectValue(id: string): Value {
  return { kind: "object", id };
}

function mismatch(wanted: string): never {
  throw new ExecutionFailure("COMMAND_ARGUMENT_ERROR", `argument is not ${wanted}`);
}

/** BCS bytes of a pure value. */
export function pureBytes(value: Value | undefined): Uint8Array {
  return value?.kind === "pure" ? value.bytes : mismatch("a pure value");
}

/** Id of an object value. */
export function objectId(value: Value | undefined): string {
  return value?.kind === "object" ? value.id : mismatch("an object");
}

/** What {@linkcode parsePure} needs of a BCS type. */
export interface Parses<T> {
  /** Reads a value from its BCS. */
  parse(bytes: Uint8Array): T;
}

/** A pure value read with its BCS type. */
export function parsePure<T>(type: Parses<T>, value: Value | undefined): T {
  const bytes = pureBytes(value);
  try {
    return type.parse(bytes);
  } catch {
    return mismatch("of the declared type");
  }
}
