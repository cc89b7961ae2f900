import { type Field, Secret } from "../../interfaces/fields.ts";
import type { Settings } from "./mod.ts";
import { TABLE } from "./table.ts";

/** A value the way it is written in a variable; secrets stay secret. */
export function formatValue(value: unknown): string {
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
