import { type Env, type Fields, inspectFields, Secret } from "../../interfaces/fields.ts";
import { TABLE } from "./table.ts";
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
