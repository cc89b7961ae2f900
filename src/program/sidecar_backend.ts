import { SvcError } from "../errors.ts";
import type { Sponsor } from "../interfaces/mod.ts";
import { errorFields, type Logger } from "../log.ts";
import type { PluginContext } from "../interfaces/plugin.ts";
import { loadPlugin, openBackend } from "./plugins.ts";
import type { SponsorBoot } from "../mcp/process.ts";

function keepsNothing(): never {
  throw new SvcError("invalid_parameter", "A sidecar keeps nothing");
}

/** A sidecar has no folder, no relayer key and no data keys. */
function contextOf(logger: Logger): PluginContext {
  return {
    dataDir: "",
    dimensions: 0,
    model: "",
    sealer: keepsNothing,
    keys: {
      put: keepsNothing,
      get: keepsNothing,
      newest: keepsNothing,
      generation: keepsNothing,
      nextGeneration: keepsNothing,
      delete: keepsNothing,
    },
    log: (level, message) => logger[level](message),
  };
}

/**
 * Opens the sponsor in the sidecar's process, which is the only one that has its key.
 *
 * @throws {SvcError} `invalid_parameter` with the setting at fault; it is logged as well, since the
 * sidecar goes on without a sponsor.
 */
export async function openSponsor(
  { name, env }: SponsorBoot,
  logger: Logger,
): Promise<Sponsor> {
  try {
    const plugin = await loadPlugin("sponsor", name);
    const castings = [{ role: "sponsor", name, plugin }] as const;
    return await openBackend("sponsor", castings, env, contextOf(logger));
  } catch (thrown) {
    const { message, cause } = SvcError.from(thrown);
    const { error } = errorFields(cause);
    logger.error("no transactions are sponsored", { reason: message, error });
    throw new SvcError("sponsor_upstream_error", undefined, { cause: thrown });
  }
}
