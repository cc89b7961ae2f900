import type { Field } from "../../interfaces/fields.ts";
import { formatValue } from "./print.ts";
import { SECTIONS, STDIO_NAMES } from "./table.ts";

/** Width `deno fmt` wraps prose at. */
const WIDTH = 100;

const INTRODUCTION = `The relayer is configured by environment variables. An unset or empty variable
means its default. An invalid value stops the start with the variable's name; all problems are
reported at once. An unknown \`SVC_*\` name is a warning. \`main.ts --print-config\` prints the
settings in force, \`main.ts --print-permissions\` what the processes may do.`;

const SOURCE = "This page is made from the table in `src/program/settings/` by `deno task docs`.";

/** Prose wrapped the way `deno fmt` does. */
function wrap(text: string): string {
  const lines: string[] = [];
  let line = "";
  // A code span is never broken.
  for (const word of text.match(/(?:`[^`]*`|\S)+/g) ?? []) {
    if (line !== "" && line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = word;
    } else line += (line === "" ? "" : " ") + word;
  }
  return [...lines, line].join("\n");
}

/** A table with aligned columns, the way `deno fmt` does. */
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

/** The reference of all settings, docs/configuration.md. */
export function configurationMarkdown(): string {
  const parts = ["# Configuration", wrap(INTRODUCTION), wrap(SOURCE)];
  for (const { title, note, fields } of SECTIONS) {
    parts.push(`## ${title}`);
    if (note !== undefined) parts.push(wrap(note));
    parts.push(table([
      ["Variable", "Default", "Meaning"],
      ...Object.values(fields).map((field) => [`\`${field.env}\``, defaultText(field), field.doc]),
    ]));
  }
  const names = STDIO_NAMES.map((name) => `\`${name}\``).join(", ");
  parts.push("## Stdio package");
  parts.push(wrap(`Read by the stdio package and the terminal commands: ${names}.`));
  return parts.join("\n\n") + "\n";
}
