import { BUILT_IN } from "../../../plugins/built_in.ts";
import type { Field } from "../../interfaces/fields.ts";
import type { Role } from "../../interfaces/mod.ts";
import type { Plugin } from "../../interfaces/plugin.ts";
import { TABLE_VARIABLES } from "./table.ts";

/** The word that leaves a role empty, where a role may be empty. */
export const EMPTY: Readonly<Partial<Record<Role, string>>> = {
  languageModel: "none",
  sponsor: "off",
  store: "local",
};

export function builtIn(name: string): Plugin | undefined {
  return BUILT_IN.find((plugin) => plugin.name === name);
}

/** Whether a choice is a path or an import specifier, and not a name. */
function isSpecifier(name: string): boolean {
  return /^(\.{0,2}\/|~\/|[A-Za-z]:\\|[a-z][a-z+.-]*:)/.test(name);
}

/** What is wrong with a role's choice, or nothing. */
export function choiceProblem(role: Role, env: string, name: string): string | undefined {
  if (name === EMPTY[role] || isSpecifier(name)) return undefined;
  if (builtIn(name)?.roles[role] !== undefined) return undefined;
  const names = BUILT_IN.filter(({ roles }) => roles[role] !== undefined).map(({ name }) => name);
  const empty = EMPTY[role];
  const known = [...(empty === undefined ? [] : [empty]), ...names].join(", ");
  return `${env} must be ${known}, a path or an import specifier of a plugin, got "${name}"`;
}

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
