import { isDeepStrictEqual } from "node:util";
import { ConfigError, SERVER_NAME, type ServerEntry } from "./entry.ts";

/** A parsed configuration. */
export type Table = Readonly<Record<string, unknown>>;

export function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value) &&
    !(value instanceof Date);
}

/**
 * The servers of a configuration.
 *
 * @param name Member that holds them.
 * @throws {ConfigError} when the member is something else.
 */
export function serversOf(config: Table, name: string): Table {
  const servers = Object.hasOwn(config, name) ? config[name] : {};
  if (!isTable(servers)) throw new ConfigError(`"${name}" is not what it should be`);
  return servers;
}

/** Whether a configuration has exactly this entry. */
export function hasEntry(config: Table, name: string, entry: ServerEntry): boolean {
  return isDeepStrictEqual(plain(serversOf(config, name)[SERVER_NAME]), plain(entry));
}

/** Only values count: parsers differ in the prototypes of their objects. */
const plain = (value: unknown): unknown => value === undefined ? undefined : structuredClone(value);

const without = (table: Table, name: string): Table =>
  Object.fromEntries(Object.entries(table).filter(([key]) => key !== name));

/**
 * Makes sure that an edit added the entry and changed nothing else.
 *
 * @throws {ConfigError} when it did not.
 */
export function checkEdit(before: Table, after: Table, name: string, entry: ServerEntry): void {
  const rest = (config: Table) => [
    plain(without(config, name)),
    plain(without(serversOf(config, name), SERVER_NAME)),
  ];
  if (hasEntry(after, name, entry) && isDeepStrictEqual(rest(before), rest(after))) return;
  throw new ConfigError("it is written in a way that cannot be changed safely");
}
