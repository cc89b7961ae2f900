import { type Env, inspectFields } from "../../interfaces/fields.ts";
import type { Plugin } from "../../interfaces/plugin.ts";
import { crossProblems, crossWarnings } from "./checks.ts";
import { type PluginSettings, pluginSettings, variablesOf } from "./plugin_settings.ts";
import { ROLE_NAMES } from "./roles.ts";
import { suggest } from "../../suggestion.ts";
import { STDIO_VARIABLES } from "../../wire/stdio_variables.ts";
import { TABLE, TABLE_VARIABLES } from "./table.ts";
import { complete, type Settings, type SettingsReading } from "./values.ts";

/** Variables that look like ours and are not, with the name that was probably meant. */
function unknownNames(env: Env, plugins: readonly PluginSettings[]): string[] {
  const ofPlugins = variablesOf(plugins.map(({ plugin }) => plugin));
  // Those of the stdio package are no mistake beside a relayer.
  const known = new Set([...TABLE_VARIABLES, ...ofPlugins, ...STDIO_VARIABLES]);
  const unknown = Object.keys(env).filter((name) => name.startsWith("SVC_") && !known.has(name));
  return unknown.sort().map((name) => {
    const meant = suggest(name, known);
    return `${name} is unknown${meant === undefined ? "" : `; did you mean ${meant}?`}`;
  });
}

/** Variables that are set for a plugin which is not chosen. */
function unread({ given }: Settings, plugins: readonly PluginSettings[]): string[] {
  return plugins.filter(({ isChosen }) => !isChosen)
    .flatMap(({ own }) => Object.values(own))
    .filter(({ env }) => given.has(env))
    .map(({ env }) => `${env} is set, but no chosen plugin reads it`);
}

/**
 * Reads the program's settings and those of plugins without throwing, so that all problems are known
 * at once.
 *
 * @param env The environment.
 * @param options `plugins`: the chosen plugins, where they are loaded; without them those that do not
 * come with the program are not looked at. `cwd`: what relative paths are relative to.
 */
export function readSettings(
  env: Env,
  options: { readonly plugins?: readonly Plugin[]; readonly cwd?: string } = {},
): SettingsReading {
  const table = inspectFields(TABLE, env);
  const settings = complete(table.values, env, options.cwd ?? "");
  const names = new Set(ROLE_NAMES.map((role) => settings[role]));
  const plugins = pluginSettings(names, options.plugins ?? []);
  const readings = plugins.map(({ plugin, isChosen, own }) =>
    inspectFields(isChosen ? plugin.fields : own, env)
  );
  // Several plugins may read the same variable.
  const problems = new Set([table, ...readings].flatMap(({ problems }) => problems));
  const warnings = new Set([table, ...readings].flatMap(({ warnings }) => warnings));
  return {
    settings,
    plugins,
    problems: [...problems, ...crossProblems(settings)],
    warnings: [
      ...warnings,
      ...crossWarnings(settings),
      ...unread(settings, plugins),
      ...unknownNames(env, plugins),
    ],
  };
}

export { configurationMarkdown, printConfig } from "./print.ts";
export {
  type Settings,
  type SettingsReading,
  setVariables,
  stopSeconds,
  withWholePaths,
} from "./values.ts";
