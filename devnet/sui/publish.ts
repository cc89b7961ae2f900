import { bcs } from "@mysten/sui/bcs";
import { ENTRY_FUNCTIONS } from "../../contracts/mirror.ts";
import { readModule } from "./bytecode.ts";
import type { Chain } from "./chain.ts";
import { ExecutionFailure } from "./failure.ts";
import { addressBytes, concat, HELD, IMMUTABLE } from "./object.ts";
import { initSvc, installSvcFunctions, SVC_MODULE } from "./svc_contract.ts";
import { objectValue } from "./value.ts";

const Modules = bcs.vector(bcs.byteVector());

/** Whether a module is our contract, as far as its names tell: it has every entry function. */
function isSvc(module: Uint8Array): boolean {
  const { name, identifiers } = readModule(module);
  return name === SVC_MODULE &&
    Object.keys(ENTRY_FUNCTIONS).every((entry) => identifiers.includes(entry));
}

function read(modules: readonly Uint8Array[]): boolean {
  try {
    return modules.map(isSvc).includes(true);
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
    const svc = read(modules);
    const id = tx.freshId();
    tx.put({
      id,
      type: "package",
      owner: IMMUTABLE,
      bcs: Modules.serialize(modules).toBytes(),
    });
    if (svc) {
      // A package that is only simulated keeps its functions: nothing of its types ever exists.
      installSvcFunctions(chain, id);
      initSvc(tx, id);
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
    if (read(Modules.parse(object.bcs).map((module) => new Uint8Array(module)))) {
      installSvcFunctions(chain, object.id);
    }
  }
}
