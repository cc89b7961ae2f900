import type { CoreDb } from "../storage/core_db.ts";
import type { Backends } from "../interfaces/mod.ts";
import { silentLogger } from "../log.ts";
import type { PluginContext } from "../interfaces/plugin.ts";
import type { RelayerKey } from "../sealing/relayer_key.ts";
import type { RelayerOptions } from "../relayer.ts";

function contextOf(options: RelayerOptions, core: CoreDb, key: RelayerKey): PluginContext {
  return {
    dataDir: options.dataDir ?? "",
    dimensions: 0,
    model: "",
    sealer: (purpose) => key.sealer(`plugin ${purpose}`),
    keys: core.keys,
    log: (level, message) => (options.logger ?? silentLogger)[level](message),
  };
}

/** The backends of a relayer; those it opens itself are disposed of with the stack. */
export async function openBackends(
  options: RelayerOptions,
  core: CoreDb,
  key: RelayerKey,
  stack: AsyncDisposableStack,
): Promise<Backends> {
  if (typeof options.backends !== "function") return options.backends;
  const backends = await options.backends(contextOf(options, core, key));
  // One object may play several roles; it is disposed of once.
  for (const backend of new Set(Object.values(backends))) stack.use(backend);
  return backends;
}
