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
  type World,
} from "../../contracts/mirror.ts";
import { accountType } from "../../plugins/sui/chain/account_object.ts";
import type { Chain } from "./chain.ts";
import { Abort, ExecutionFailure } from "./failure.ts";
import { addressBytes, concat, type FieldInfo, SHARED } from "./object.ts";
import type { Tx } from "./tx.ts";
import type { Value } from "./value.ts";

/** Name of the contract's module. */
export const SVC_MODULE = "account";

const TX_CONTEXT = "&mut 0x2::tx_context::TxContext";
const PURE_TYPES: Readonly<Record<string, string>> = { string: "0x1::string::String" };
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
  readonly registryVersion: bigint;
  readonly #tx: Tx;
  readonly #packageId: string;
  readonly #registryId: string;

  constructor(tx: Tx, packageId: string, registryId: string) {
    this.#tx = tx;
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

function install(chain: Chain, packageId: string, name: string, entry: EntryFunction): void {
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
        new ChainWorld(tx, packageId, registryId),
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

/** Makes the functions of `svc::account` callable in a package. */
export function installSvcFunctions(chain: Chain, packageId: string): void {
  const id = normalizeSuiAddress(packageId);
  for (const [name, entry] of Object.entries(ENTRY_FUNCTIONS)) install(chain, id, name, entry);
}

/** What the contract's `init` creates. @returns Id of the shared registry. */
export function initSvc(tx: Tx, packageId: string): string {
  const id = tx.freshId();
  return tx.put({
    id,
    type: registryType(normalizeSuiAddress(packageId)),
    owner: SHARED,
    bcs: encodeRegistry(id),
  });
}

/** The contract as it exists from the start: package, functions and registry. */
export function genesisSvc(chain: Chain): { packageId: string; registryId: string } {
  const packageId = chain.publish(chain.freshId());
  installSvcFunctions(chain, packageId);
  const id = chain.freshId();
  const registryId = chain.put({
    id,
    type: registryType(packageId),
    owner: SHARED,
    bcs: encodeRegistry(id),
  });
  return { packageId, registryId };
}
