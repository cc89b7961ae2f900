import { type Field, Secret } from "../fields.ts";
import type { Settings } from "../settings.ts";
import { SECTIONS, STDIO_NAMES, TABLE } from "./table.ts";

/** A value the way it is written in a variable; secrets stay secret. */
function formatValue(value: unknown): string {
  if (value === undefined) return "";
  if (value instanceof Secret) return "[secret]";
  if (Array.isArray(value)) return value.join(",");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The settings in force, one `NAME=value` a line; what was not set is marked as default. */
export function printConfig(settings: Settings): string {
  const fields: Record<string, Field<unknown>> = TABLE;
  const values: Record<string, unknown> = { ...settings };
  return Object.keys(fields).map((key) => {
    const name = fields[key]!.env;
    const mark = settings.given.has(name) ? "" : " # default";
    return `${name}=${formatValue(values[key])}${mark}\n`;
  }).join("");
}

function defaultText(field: Field<unknown>): string {
  if (field.fallbackText !== undefined) return field.fallbackText;
  const text = formatValue(field.fallback);
  return text === "" || text === "{}" ? "none" : text;
}

const cell = (text: string) => text.replaceAll("|", "\\|");

/** The reference of all settings, docs/configuration.md. */
export function configurationMarkdown(): string {
  const parts = [
    "# Configuration",
    "",
    "The relayer is configured by environment variables. An unset or empty variable means its " +
    "default. An invalid value stops the start with the variable's name; all problems are " +
    "reported at once. An unknown `SVC_*` name is a warning. `main.ts --print-config` prints the " +
    "settings in force, `main.ts --print-permissions` what the processes may do.",
    "",
    "This page is made from the table in `src/settings/` by `deno task docs`.",
  ];
  for (const { title, note, fields } of SECTIONS) {
    parts.push("", `## ${title}`, "");
    if (note !== undefined) parts.push(note, "");
    parts.push("| Variable | Default | Meaning |", "| --- | --- | --- |");
    for (const field of Object.values(fields)) {
      parts.push(`| \`${field.env}\` | ${cell(defaultText(field))} | ${cell(field.doc)} |`);
    }
  }
  parts.push(
    "",
    "## Stdio package",
    "",
    `Read by the stdio package and the terminal commands: ${
      STDIO_NAMES.map((name) => `\`${name}\``).join(", ")
    }.`,
    "",
  );
  return parts.join("\n");
}
