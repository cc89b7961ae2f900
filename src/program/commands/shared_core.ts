import type { Env } from "../../interfaces/fields.ts";
import { silentLogger } from "../../log.ts";
import { CoreDb } from "../../storage/core_db.ts";
import { COMMON } from "../../storage/ledger_mirror.ts";
import { loadPlugin, openBackend } from "../plugins.ts";
import type { Settings } from "../settings/mod.ts";

/**
 * Looks into what all relayers of a shared store have in common, whether they run or not; what `work`
 * writes there is durable when this resolves.
 *
 * @param settings Whose `store` is not the empty one.
 * @throws {SvcError} `invalid_parameter` when the store cannot be opened; `storage_unavailable`; and
 * whatever `work` throws.
 */
export async function inSharedCore<T>(
  { store: name }: Settings,
  env: Env,
  work: (core: CoreDb) => T | Promise<T>,
): Promise<T> {
  const plugin = await loadPlugin("store", name);
  const log = (level: keyof typeof silentLogger, message: string) => silentLogger[level](message);
  await using store = await openBackend("store", { role: "store", name, plugin }, env, { log });
  using core = new CoreDb(":memory:");
  const mirror = core.mirror(store.ledger);
  await mirror.load(COMMON);
  core.requireHere();
  const result = await work(core);
  await mirror.flush(COMMON);
  return result;
}
