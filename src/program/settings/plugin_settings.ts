import { BUILT_IN } from "../../../plugins/built_in.ts";
import type { Field } from "../../interfaces/fields.ts";
import type { Plugin } from "../../interfaces/plugin.ts";
import { TABLE_VARIABLES } from "./table.ts";

/** A plugin and those of its settings that are nobody else's. */
export interface PluginSettings {
  readonly plugin: Plugin;
  /** Whether it plays a role. */
  readonly isChosen: boolean;
  /** Its settings without those that the program, or a plugin before it, reads as well. */
  readonly own: Readonly<Record<string, Field<unknown>>>;
}

export function variablesOf(plugins: readonly Plugin[]): Set<string> {
  return new Set(plugins.flatMap(({ fields }) => Object.values(fields).map(({ env }) => env)));
}

/**
 * The settings of every plugin that comes with the program, and of those that are chosen besides.
 *
 * @param names What the roles are played by.
 * @param loaded Plugins that were chosen by a path or an import specifier; others do no harm.
 */
export function pluginSettings(
  names: ReadonlySet<string>,
  loaded: readonly Plugin[],
): PluginSettings[] {
  const all = [...new Set([...BUILT_IN, ...loaded])];
  const isChosen = (plugin: Plugin) =>
    loaded.includes(plugin) || BUILT_IN.includes(plugin) && names.has(plugin.name);
  const read = variablesOf(all.filter(isChosen));
  const taken = new Set(TABLE_VARIABLES);
  return all.map((plugin) => {
    const own = Object.entries(plugin.fields).filter(([, { env }]) =>
      !taken.has(env) && (isChosen(plugin) || !read.has(env))
    );
    for (const [, { env }] of own) taken.add(env);
    return { plugin, isChosen: isChosen(plugin), own: Object.fromEntries(own) };
  });
}
