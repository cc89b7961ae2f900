import { SvcError } from "../../errors.ts";
import type { Env } from "../../interfaces/fields.ts";
import { type Casting, inspectPlugins, loadPlugins, pluginVariables } from "../plugins.ts";
import { readSettings, type Settings } from "../settings/mod.ts";

/** Settings and plugins that fit together. */
export interface Prepared {
  /** The settings. */
  readonly settings: Settings;
  /** The chosen plugins. */
  readonly castings: readonly Casting[];
  /** Variables the plugins read. */
  readonly pluginVariables: readonly string[];
  /** What is odd but harmless, one line each. */
  readonly warnings: readonly string[];
}

/**
 * Reads the settings and loads the plugins they choose.
 *
 * @param cwd What relative paths are relative to.
 * @throws {SvcError} `invalid_parameter` with every problem, one line each.
 */
export async function prepare(env: Env, cwd: string): Promise<Prepared> {
  const first = readSettings(env, { cwd });
  const loaded = first.problems.length > 0
    ? { castings: [], problems: [] }
    : await loadPlugins(first.settings);
  const own = inspectPlugins(loaded.castings, env);
  const problems = [...first.problems, ...loaded.problems, ...own.problems];
  if (problems.length > 0) throw new SvcError("invalid_parameter", problems.join("\n"));
  const pluginNames = pluginVariables(loaded.castings);
  const { settings, warnings } = readSettings(env, { cwd, pluginNames });
  return {
    settings,
    castings: loaded.castings,
    pluginVariables: pluginNames,
    warnings: [...warnings, ...own.warnings],
  };
}
