import { SvcError } from "../errors.ts";
import type { Sponsor } from "../interfaces/mod.ts";
import { errorFields, type Logger } from "../log.ts";
import { loadPlugin, openBackend } from "./plugins.ts";
import type { SponsorBoot } from "../mcp/process.ts";

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
    return await openBackend("sponsor", { role: "sponsor", name, plugin }, env, {
      log: (level, message) => logger[level](message),
    });
  } catch (thrown) {
    const { message, cause } = SvcError.from(thrown);
    const { error } = errorFields(cause);
    logger.error("no transactions are sponsored", { reason: message, error });
    throw new SvcError("sponsor_upstream_error", undefined, { cause: thrown });
  }
}
