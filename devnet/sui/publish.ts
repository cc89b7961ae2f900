import { bcs } from "@mysten/sui/bcs";
import { readModule } from "./bytecode.ts";
import type { Chain } from "./chain.ts";
import { ExecutionFailure } from "./failure.ts";
import { addressBytes, concat, HELD, IMMUTABLE } from "./object.ts";
import { entryNames, initSvc, installSvcFunctions, SVC_MODULE } from "./svc_contract.ts";
import { objectValue } from "./value.ts";

const Modules = bcs.vector(bcs.byteVector());

/** Versions of our contract, the newest first. */
const VERSIONS = [2n, 1n];

/**
 * The version of our contract that a module is, as far as its names tell: it has every entry
 * function of it.
 */
function svcVersion(module: Uint8Array): bigint | undefined {
  const { name, identifiers } = readModule(module);
  if (name !== SVC_MODULE) return undefined;
  return VERSIONS.find((version) =>
    entryNames(version).every((entry) => identifiers.includes(entry))
  );
}

/** The version of our contract that is among modules. */
function read(modules: readonly Uint8Array[]): bigint | undefined {
  try {
    return modules.map(svcVersion).find((version) => version !== undefined);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ExecutionFailure("VM_VERIFICATION_OR_DESERIALIZATION_ERROR", why);
  }
}

/**
 * Lets transactions publish packages. Any compiled modules become a package; only our contract gets
 * functions (those of its mirror: the bytes are recognized, not executed) and has its `init` run.
 * The result is the UpgradeCap (`id`, `package`, `version`, `policy`).
 */
export function installPublishing(chain: Chain): void {
  chain.publisher = (tx, modules) => {
    if (modules.length === 0) {
      throw new ExecutionFailure("COMMAND_ARGUMENT_ERROR", "a package needs a module");
    }
    const version = read(modules);
    const id = tx.freshId();
    tx.put({
      id,
      type: "package",
      owner: IMMUTABLE,
      bcs: Modules.serialize(modules).toBytes(),
    });
    if (version !== undefined) {
      // A package that is only simulated keeps its functions: nothing of its types ever exists.
      installSvcFunctions(chain, id, version);
      initSvc(tx, id, version);
    }
    const cap = tx.freshId();
    tx.put({
      id: cap,
      type: "0x2::package::UpgradeCap",
      owner: HELD,
      bcs: concat(
        addressBytes(cap),
        addressBytes(id),
        bcs.u64().serialize(1).toBytes(),
        Uint8Array.of(0),
      ),
    });
    return [objectValue(cap)];
  };
}

/** Makes the functions of published packages callable again, after a restart. */
export function reinstallPublished(chain: Chain): void {
  for (const object of chain.objects.values()) {
    if (object.type !== "package" || object.bcs.length === 0) continue;
    const version = read(Modules.parse(object.bcs).map((module) => new Uint8Array(module)));
    if (version !== undefined) installSvcFunctions(chain, object.id, version);
  }
}
