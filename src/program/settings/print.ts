import {
  type Env,
  type Field,
  type Fields,
  inspectFields,
  Secret,
} from "../../interfaces/fields.ts";
import type { Plugin } from "../../interfaces/plugin.ts";
import { STDIO_VARIABLES } from "../../wire/stdio_variables.ts";
import { type PluginSettings, pluginSettings } from "./plugin_settings.ts";
import { type Section, SECTIONS, TABLE } from "./table.ts";
import type { SettingsReading } from "./values.ts";

/** A value the way it is written in a variable; secrets stay secret. */
export function formatValue(value: unknown): string {
  if (value === undefined) return "";
  if (value instanceof Secret) return "[secret]";
  if (Array.isArray(value)) return value.join(",");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The settings in force, one `NAME=value` a line; what was not set is marked as default. */
export function printConfig(
  { settings, plugins }: Pick<SettingsReading, "settings" | "plugins">,
  env: Env,
): string {
  const lines = (fields: Fields, values: object): string[] => {
    const found = new Map<string, unknown>(Object.entries(values));
    return Object.entries(fields).map(([key, { env }]) => {
      const mark = settings.given.has(env) ? "" : " # default";
      return `${env}=${formatValue(found.get(key))}${mark}\n`;
    });
  };
  return [
    ...lines(TABLE, settings),
    ...plugins.flatMap(({ own }) => lines(own, inspectFields(own, env).values)),
  ].join("");
}

const INTRODUCTION = `The relayer is configured by environment variables. An unset or empty variable
means its default. An invalid value stops the start with the variable's name; all problems are
reported at once. An unknown \`SVC_*\` name is a warning. \`main.ts --print-config\` prints the
settings in force, \`main.ts --print-permissions\` what the processes may do, and
\`main.ts --print-settings\` this page with the settings of chosen plugins from elsewhere.`;

const SOURCE =
  "This page is made from the tables in `src/program/settings/` and in the plugins by " +
  "`deno task docs`.";

const names = (items: readonly string[]) => items.map((item) => `\`${item}\``).join(", ");

function table(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = (cells[0] ?? []).map((_, n) => Math.max(...cells.map((row) => row[n]!.length)));
  const lines = cells.map((row) =>
    `| ${row.map((cell, n) => cell.padEnd(widths[n]!)).join(" | ")} |`
  );
  lines.splice(1, 0, `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`);
  return lines.join("\n");
}

function defaultText(field: Field<unknown>): string {
  if (field.fallbackText !== undefined) return field.fallbackText;
  const text = formatValue(field.fallback);
  return text === "" || text === "{}" ? "none" : text;
}

/** The settings of a plugin; nothing where it has none of its own. */
function pluginSection({ plugin: { name, docs, fields, roles }, own }: PluginSettings): Section[] {
  const variables = Object.values(own).map(({ env }) => env);
  if (variables.length === 0) return [];
  const others = Object.values(fields).map(({ env }) => env)
    .filter((env) => !variables.includes(env));
  const also = others.length === 0 ? "" : ` Reads ${names(others)} too.`;
  const page = docs === undefined ? "" : `; see [its documentation](${docs})`;
  return [{
    title: `Plugin ${name}`,
    note: `For ${names(Object.keys(roles))}${page}.${also}`,
    fields: own,
  }];
}

/**
 * The reference of all settings, docs/configuration.md.
 *
 * @param loaded Chosen plugins, whose settings are added where they do not come with the program.
 */
export function configurationMarkdown(loaded: readonly Plugin[] = []): string {
  const parts = ["# Configuration", INTRODUCTION, SOURCE];
  const ofPlugins = pluginSettings(new Set(), loaded).flatMap(pluginSection);
  for (const { title, note, fields } of [...SECTIONS, ...ofPlugins]) {
    parts.push(`## ${title}`);
    if (note !== undefined) parts.push(note);
    parts.push(table([
      ["Variable", "Default", "Meaning"],
      ...Object.values(fields).map((field) => [`\`${field.env}\``, defaultText(field), field.doc]),
    ]));
  }
  parts.push("## Stdio package");
  parts.push(`Read by the stdio package and the terminal commands: ${names(STDIO_VARIABLES)}.`);
  return parts.join("\n\n") + "\n";
}
