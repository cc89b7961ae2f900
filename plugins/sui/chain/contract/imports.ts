import { deserialize } from "@mysten/move-bytecode-template";
import { abilityText, signatureText } from "./signature.ts";

/** A function of another package that bytecode calls. */
interface ImportedFunction {
  /** `0x` and 64 hex characters. */
  readonly packageId: string;
  readonly module: string;
  readonly name: string;
  /** The signature that the bytecode was compiled against, as `signatureText` writes it. */
  readonly signature: string;
}

/** A type in a signature of Move bytecode. */
type Token =
  | string
  | { readonly Vector: Token }
  | { readonly Reference: Token }
  | { readonly MutableReference: Token }
  | { readonly TypeParameter: number }
  | { readonly Datatype: number }
  | { readonly DatatypeInstantiation: readonly [number, readonly Token[]] };

/** What is used of a module's tables; indices refer to other tables of the module. */
interface ModuleTables {
  readonly self_module_handle_idx: number;
  readonly module_handles: readonly { readonly address: number; readonly name: number }[];
  readonly datatype_handles: readonly { readonly module: number; readonly name: number }[];
  readonly function_handles: readonly {
    readonly module: number;
    readonly name: number;
    readonly parameters: number;
    readonly return_: number;
    /** Sets of abilities as bits. */
    readonly type_parameters: readonly number[];
  }[];
  readonly signatures: readonly (readonly Token[])[];
  readonly identifiers: readonly string[];
  readonly address_identifiers: readonly string[];
}

/** Resolves the indices in the tables of one module to names. */
class ModuleReader {
  readonly #tables: ModuleTables;

  constructor(bytecode: Uint8Array) {
    // The package declares no type for the result.
    this.#tables = deserialize(bytecode) as ModuleTables;
  }

  /** Functions of other modules that this one calls. */
  imports(): ImportedFunction[] {
    const { function_handles, self_module_handle_idx } = this.#tables;
    return function_handles
      .filter((handle) => handle.module !== self_module_handle_idx)
      .map((handle) => ({
        ...this.#module(handle.module),
        name: this.#identifier(handle.name),
        signature: signatureText({
          visibility: "public",
          constraints: handle.type_parameters.map((set) =>
            abilityText((_, bit) => (set & bit) !== 0)
          ),
          parameters: this.#types(handle.parameters),
          returns: this.#types(handle.return_),
        }),
      }));
  }

  #identifier(index: number): string {
    return entry(this.#tables.identifiers, index);
  }

  #module(index: number): { readonly packageId: string; readonly module: string } {
    const { address, name } = entry(this.#tables.module_handles, index);
    return {
      packageId: "0x" + entry(this.#tables.address_identifiers, address),
      module: this.#identifier(name),
    };
  }

  #types(signature: number): string[] {
    return entry(this.#tables.signatures, signature).map((token) => this.#type(token));
  }

  #type(token: Token): string {
    if (typeof token === "string") return token.toLowerCase();
    if ("Vector" in token) return `vector<${this.#type(token.Vector)}>`;
    if ("Reference" in token) return `&${this.#type(token.Reference)}`;
    if ("MutableReference" in token) return `&mut ${this.#type(token.MutableReference)}`;
    if ("TypeParameter" in token) return `T${token.TypeParameter}`;
    if ("Datatype" in token) return this.#datatype(token.Datatype);
    const [index, types] = token.DatatypeInstantiation;
    return `${this.#datatype(index)}<${types.map((type) => this.#type(type)).join(", ")}>`;
  }

  #datatype(index: number): string {
    const { module, name } = entry(this.#tables.datatype_handles, index);
    const { packageId, module: moduleName } = this.#module(module);
    return `${packageId}::${moduleName}::${this.#identifier(name)}`;
  }
}

function entry<Value>(table: readonly Value[], index: number): Value {
  const value = table[index];
  if (value === undefined) throw new RangeError("the bytecode refers to what it does not have");
  return value;
}

const SELF = "0x" + "0".repeat(64);

/** Every function of other packages that modules call, once each, by package, module and name. */
export function importedFunctions(modules: readonly Uint8Array[]): ImportedFunction[] {
  const found = new Map<string, ImportedFunction>();
  for (const bytecode of modules) {
    for (const imported of new ModuleReader(bytecode).imports()) {
      if (imported.packageId === SELF) continue;
      const { packageId, module, name } = imported;
      found.set(`${packageId}::${module}::${name}`, imported);
    }
  }
  return [...found].sort(([a], [b]) => a < b ? -1 : 1).map(([, imported]) => imported);
}
