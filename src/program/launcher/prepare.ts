import { invalid } from "../invalid.ts";
import type { Env } from "../../interfaces/fields.ts";
import type { SponsorBoot } from "../../mcp/process.ts";
import { type Casting, loadPlugins, pluginVariables } from "../plugins.ts";
import { readSettings, type SettingsReading, setVariables } from "../settings/mod.ts";

/** What the environment says, and the plugins it chooses. */
export interface Prepared extends SettingsReading {
  /** The chosen plugins; those that can be had, where there are problems. */
  readonly castings: readonly Casting[];
}

/**
 * Reads the settings, loads the plugins they choose, and reads the settings of those.
 *
 * @param cwd What relative paths are relative to.
 */
export async function inspect(env: Env, cwd: string): Promise<Prepared> {
  const { castings, problems } = await loadPlugins(readSettings(env, { cwd }).settings);
  const reading = readSettings(env, { cwd, plugins: castings.map(({ plugin }) => plugin) });
  return { ...reading, castings, problems: [...reading.problems, ...problems] };
}

/**
 * Settings and plugins that fit together.
 *
 * @throws {SvcError} `invalid_parameter` with every problem, one line each.
 */
export async function prepare(env: Env, cwd: string): Promise<Prepared> {
  const prepared = await inspect(env, cwd);
  const { problems } = prepared;
  if (problems.length > 0) throw invalid(problems.join("\n"));
  return prepared;
}

/** The plugins of both processes, and what the sidecar is told about its sponsor. */
export type Parted = ReturnType<typeof partPlugins>;

/** Parts the plugins: who pays for transactions is opened by the sidecar, with its key. */
export function partPlugins(castings: readonly Casting[], env: Env) {
  const relayer = castings.filter(({ role }) => role !== "sponsor");
  const sidecar = castings.filter(({ role }) => role === "sponsor");
  const known = setVariables(env, pluginVariables(sidecar));
  const sponsor: SponsorBoot | undefined = sidecar[0] && { name: sidecar[0].name, env: known };
  return { relayer, sidecar, sponsor };
}
