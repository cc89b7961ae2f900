import { normalizeSuiAddress } from "@mysten/sui/utils";
import {
  ArgumentError,
  callEntry,
  decodeAccount,
  encodeAccount,
  encodeEvent,
  encodeRegistry,
  ENTRY_FUNCTIONS,
  type EntryArgument,
  type EntryFunction,
  type EntryParameter,
  type IndexName,
  MoveAbort,
  VERSION,
  type World,
} from "../../contracts/mirror.ts";
import { accountType } from "../../plugins/sui/chain/account_object.ts";
import type { Chain } from "./chain.ts";
import { Abort, ExecutionFailure } from "./failure.ts";
import { addressBytes, type ChainObject, concat, type FieldInfo, SHARED } from "./object.ts";
import type { Tx } from "./tx.ts";
import type { Value } from "./value.ts";

/** Name of the contract's module. */
export const SVC_MODULE = "account";

const TX_CONTEXT = "&mut 0x2::tx_context::TxContext";
const PURE_TYPES: Readonly<Record<string, string>> = {
  string: "0x1::string::String",
  "vector<string>": "vector<0x1::string::String>",
};
const PREFIX = { read: "&", write: "&mut ", consume: "" } as const;

function typeOf(packageId: string, object: "Registry" | "SvcAccount" | "Clock"): string {
  if (object === "Clock") return "0x2::clock::Clock";
  return object === "SvcAccount" ? accountType(packageId) : registryType(packageId);
}

function registryType(packageId: string): string {
  return `${packageId}::${SVC_MODULE}::Registry`;
}

function parameterText(packageId: string, parameter: EntryParameter): string {
  return "pure" in parameter
    ? PURE_TYPES[parameter.pure] ?? parameter.pure
    : PREFIX[parameter.use] + typeOf(packageId, parameter.object);
}

/** The field of the registry's index; the name's struct has one member, so it is that member. */
function indexField(packageId: string, registryId: string, name: IndexName): FieldInfo {
  const struct = name.kind === "owner" ? "OwnerKey" : "DelegateIndex";
  return {
    parent: registryId,
    nameType: `${packageId}::${SVC_MODULE}::${struct}`,
    name: name.kind === "owner"
      ? addressBytes(name.owner)
      : concat(Uint8Array.of(32), Uint8Array.fromHex(name.publicKey)),
    valueType: "0x2::object::ID",
  };
}

/** The part of a transaction that a call of the contract sees. */
class ChainWorld implements World {
  readonly codeVersion: bigint;
  readonly registryVersion: bigint;
  readonly #tx: Tx;
  readonly #packageId: string;
  readonly #registryId: string;

  constructor(tx: Tx, { packageId, version }: SvcPackage, registryId: string) {
    this.#tx = tx;
    this.codeVersion = version;
    this.#packageId = packageId;
    this.#registryId = registryId;
    const registry = tx.tryGet(registryId)?.bcs ?? new Uint8Array(40);
    this.registryVersion = new DataView(registry.slice(32).buffer).getBigUint64(0, true);
  }

  get sender(): string {
    return this.#tx.sender;
  }

  get now(): bigint {
    return BigInt(this.#tx.now);
  }

  account(id: string): ReturnType<World["account"]> {
    return decodeAccount(this.#tx.get(id).bcs);
  }

  putAccount(account: Parameters<World["putAccount"]>[0]): void {
    this.#tx.put({
      id: account.id,
      type: accountType(this.#packageId),
      owner: this.#tx.tryGet(account.id)?.owner ?? SHARED,
      bcs: encodeAccount(account),
    });
  }

  deleteAccount(id: string): void {
    this.#tx.del(id);
  }

  indexGet(name: IndexName): string | undefined {
    const { parent, nameType, name: key } = this.#field(name);
    const value = this.#tx.getField(parent, nameType, key);
    return value === undefined ? undefined : `0x${value.toHex()}`;
  }

  indexSet(name: IndexName, accountId: string): void {
    this.#tx.setField(this.#field(name), addressBytes(accountId));
  }

  indexRemove(name: IndexName): void {
    const { parent, nameType, name: key } = this.#field(name);
    this.#tx.delField(parent, nameType, key);
  }

  freshId(): string {
    return this.#tx.freshId();
  }

  emit(event: Parameters<World["emit"]>[0]): void {
    this.#tx.emit(this.#packageId, SVC_MODULE, event.name, encodeEvent(event));
  }

  #field(name: IndexName): FieldInfo {
    return indexField(this.#packageId, this.#registryId, name);
  }
}

function entryArguments(tx: Tx, args: readonly Value[]): EntryArgument[] {
  return args.map((value) => {
    if (value.kind === "pure") return { pure: value.bytes };
    if (value.kind === "object") return { object: { id: value.id, type: tx.get(value.id).type } };
    throw new ExecutionFailure("COMMAND_ARGUMENT_ERROR", "argument of an unexpected type");
  });
}

/** A package with our contract. */
interface SvcPackage {
  readonly packageId: string;
  /** Version of the data that its code understands. */
  readonly version: bigint;
}

function install(chain: Chain, svc: SvcPackage, name: string, entry: EntryFunction): void {
  const { packageId } = svc;
  const registryAt = entry.parameters.findIndex((each) =>
    "object" in each && each.object === "Registry"
  );
  const where = `${packageId}::${SVC_MODULE}::${name}`;
  chain.fn(where, (tx, args) => {
    const registry = args[registryAt];
    const registryId = registry?.kind === "object" ? registry.id : "0x0";
    try {
      callEntry(
        packageId,
        name,
        new ChainWorld(tx, svc, registryId),
        entryArguments(tx, args),
      );
    } catch (error) {
      if (error instanceof MoveAbort) throw new Abort(error.code, where);
      if (error instanceof ArgumentError) {
        throw new ExecutionFailure("COMMAND_ARGUMENT_ERROR", error.message);
      }
      throw error;
    }
  }, {
    parameters: [...entry.parameters.map((each) => parameterText(packageId, each)), TX_CONTEXT],
    entry: true,
  });
}

/** Names of the entry functions of a version of the contract. */
export function entryNames(version: bigint): string[] {
  return Object.entries(ENTRY_FUNCTIONS)
    .filter(([, { since = 1n }]) => since <= version)
    .map(([name]) => name);
}

/** Makes the functions of `svc::account` callable in a package, as a version has them. */
export function installSvcFunctions(
  chain: Chain,
  packageId: string,
  version: bigint = VERSION,
): void {
  const svc = { packageId: normalizeSuiAddress(packageId), version };
  for (const name of entryNames(version)) install(chain, svc, name, ENTRY_FUNCTIONS[name]!);
}

/** What the contract's `init` creates. @returns Id of the shared registry. */
export function initSvc(tx: Tx, packageId: string, version: bigint = VERSION): string {
  const id = tx.freshId();
  return tx.put({
    id,
    type: registryType(normalizeSuiAddress(packageId)),
    owner: SHARED,
    bcs: encodeRegistry(id, version),
  });
}

/** Version of the data of a registry. */
function versionOf(registry: ChainObject): bigint {
  return new DataView(registry.bcs.slice(32).buffer).getBigUint64(0, true);
}

/**
 * The contract as it exists from the start: package, functions and registry. A chain that an earlier
 * version began keeps the contract of then.
 *
 * @param version Of a chain that begins; the present one when absent.
 */
export function genesisSvc(
  chain: Chain,
  version: bigint = VERSION,
): { packageId: string; registryId: string } {
  const packageId = chain.publish(chain.freshId());
  const id = chain.freshId();
  const restored = chain.restored.has(id) ? chain.objects.get(id) : undefined;
  const code = restored === undefined ? version : versionOf(restored);
  installSvcFunctions(chain, packageId, code);
  const registryId = chain.put({
    id,
    type: registryType(packageId),
    owner: SHARED,
    bcs: encodeRegistry(id, code),
  });
  return { packageId, registryId };
}
