import { GrpcTypes } from "@mysten/sui/grpc";
import { normalizeSuiAddress } from "@mysten/sui/utils";
import { normalizeType } from "./object.ts";
import type { Tx } from "./tx.ts";
import type { Value } from "./value.ts";

/** What a Move function does, written in TypeScript. Throws Abort or another ExecutionFailure. */
export type FunctionImplementation = (
  tx: Tx,
  args: readonly Value[],
  typeArguments: readonly string[],
) => readonly Value[] | void;

/**
 * Signature of a function. Types are written as in Move with full names: `u64`, `vector<u8>`,
 * `address`, `0x2::coin::Coin<0x2::sui::SUI>`, `&P::m::S`, `&mut P::m::S`, `$0` for the first type
 * parameter. A `TxContext` at the end is only described: callers do not pass it.
 */
export interface FunctionSignature {
  /** Types of the parameters. */
  readonly parameters: readonly string[];
  /** Types of the results; none when absent. */
  readonly returns?: readonly string[];
  /** How many type parameters it has, or the abilities that each needs (`copy drop`). */
  readonly typeParameters?: number | readonly string[];
  /** Whether it is `entry`. */
  readonly entry?: boolean;
}

/** How a parameter takes its argument. */
export interface Parameter {
  /** By reference, by mutable reference, or by value. */
  readonly passing: "reference" | "mutable" | "value";
  /** Canonical type; `$n` for a type parameter. */
  readonly type: string;
}

/** A function of the chain. */
export interface ChainFunction {
  /** Normalized `package::module::name`. */
  readonly target: string;
  /** What it does. */
  readonly run: FunctionImplementation;
  /** Its parameters, when declared: then arguments are checked and it can be looked up. */
  readonly parameters?: readonly Parameter[];
  /** As MovePackageService describes it. */
  readonly descriptor?: GrpcTypes.FunctionDescriptor;
}

const { OpenSignatureBody_Type: Body, OpenSignature_Reference: Reference } = GrpcTypes;

const { Ability } = GrpcTypes;
const ABILITIES: Readonly<Record<string, GrpcTypes.Ability>> = {
  copy: Ability.COPY,
  drop: Ability.DROP,
  store: Ability.STORE,
  key: Ability.KEY,
};

const CONTEXT_TYPE = normalizeType("0x2::tx_context::TxContext");

const PRIMITIVES: Readonly<Record<string, GrpcTypes.OpenSignatureBody_Type>> = {
  address: Body.ADDRESS,
  bool: Body.BOOL,
  u8: Body.U8,
  u16: Body.U16,
  u32: Body.U32,
  u64: Body.U64,
  u128: Body.U128,
  u256: Body.U256,
};

/** Splits `A, B<C, D>` at its outer commas. */
export function splitTypes(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at <= text.length; at++) {
    const character = text[at];
    if (character === "<") depth++;
    else if (character === ">") depth--;
    else if (character === undefined || (character === "," && depth === 0)) {
      const part = text.slice(from, at).trim();
      if (part !== "") parts.push(part);
      from = at + 1;
    }
  }
  return parts;
}

function bodyOf(type: string): GrpcTypes.OpenSignatureBody {
  const primitive = PRIMITIVES[type];
  if (primitive !== undefined) return { type: primitive, typeParameterInstantiation: [] };
  if (type.startsWith("$")) {
    return {
      type: Body.TYPE_PARAMETER,
      typeParameter: Number(type.slice(1)),
      typeParameterInstantiation: [],
    };
  }
  const open = type.indexOf("<");
  const inner = open < 0 ? [] : splitTypes(type.slice(open + 1, type.lastIndexOf(">")));
  const typeParameterInstantiation = inner.map(bodyOf);
  const name = open < 0 ? type : type.slice(0, open);
  return name === "vector"
    ? { type: Body.VECTOR, typeParameterInstantiation }
    : { type: Body.DATATYPE, typeName: normalizeType(name), typeParameterInstantiation };
}

/** A parameter from its text. */
export function parseParameter(text: string): Parameter {
  const passing = text.startsWith("&mut ")
    ? "mutable"
    : text.startsWith("&")
    ? "reference"
    : "value";
  const type = text.slice(passing === "mutable" ? 5 : passing === "reference" ? 1 : 0).trim();
  const generic = type.includes("$") || type.startsWith("vector<");
  return { passing, type: generic ? type : normalizeType(type) };
}

function openSignature(text: string): GrpcTypes.OpenSignature {
  const { passing, type } = parseParameter(text);
  return {
    ...(passing === "value" ? {} : {
      reference: passing === "mutable" ? Reference.MUTABLE : Reference.IMMUTABLE,
    }),
    body: bodyOf(type),
  };
}

function abilitiesOf({ typeParameters = 0 }: FunctionSignature): string[][] {
  return typeof typeParameters === "number"
    ? Array.from({ length: typeParameters }, () => [])
    : typeParameters.map((names) => names.split(" ").filter((name) => name !== ""));
}

function describe(name: string, signature: FunctionSignature): GrpcTypes.FunctionDescriptor {
  return {
    name,
    visibility: GrpcTypes.FunctionDescriptor_Visibility.PUBLIC,
    isEntry: signature.entry ?? false,
    typeParameters: abilitiesOf(signature).map((constraints) => ({
      constraints: constraints.map((name) => ABILITIES[name] ?? Ability.ABILITY_UNKNOWN),
      isPhantom: false,
    })),
    parameters: signature.parameters.map(openSignature),
    returns: (signature.returns ?? []).map(openSignature),
  };
}

/** The functions that transactions can call. */
export class Functions {
  readonly #functions = new Map<string, ChainFunction>();

  /** Registers a function in place of an earlier one. @param target `package::module::name`. */
  set(target: string, run: FunctionImplementation, signature?: FunctionSignature): void {
    const [packageId = "", module = "", name = ""] = target.split("::");
    const key = Functions.key(packageId, module, name);
    this.#functions.set(key, {
      target: key,
      run,
      ...(signature === undefined ? {} : {
        parameters: signature.parameters.map(parseParameter)
          .filter(({ type }) => type !== CONTEXT_TYPE),
        descriptor: describe(name, signature),
      }),
    });
  }

  /** The function, if there is one. */
  get(packageId: string, module: string, name: string): ChainFunction | undefined {
    return this.#functions.get(Functions.key(packageId, module, name));
  }

  /** Normalized `package::module::name`. */
  static key(packageId: string, module: string, name: string): string {
    return `${normalizeSuiAddress(packageId)}::${module}::${name}`;
  }
}
