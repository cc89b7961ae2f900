import { isDeepStrictEqual } from "node:util";

/** Name under which hosts list the package. */
export const SERVER_NAME = "svc";

/** What a host is told about the package. */
export interface ServerEntry {
  /** Only where the host wants it. */
  readonly type?: "stdio";
  /** Program, an absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  /** Variables besides the host's own; never a secret. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A configuration that cannot be changed safely; the message is for people. */
export class ConfigError extends Error {}

/** A configuration with the entry in it. */
export interface Edit {
  readonly text: string;
  readonly changed: boolean;
}

/** Lines of a configuration, without what else stands on them. */
export interface OwnLines {
  /** Number of the first one, from 1. */
  readonly line: number;
  readonly lines: readonly string[];
}

/** What an edit is about; nothing of other servers, which may hold keys. */
export interface Change {
  /** The entry as it was; absent when there was none. */
  readonly before: OwnLines | undefined;
  /** The entry as it is, with what had to be made around it. */
  readonly after: OwnLines;
}

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
function serversOf(config: Table, name: string): Table {
  const servers = Object.hasOwn(config, name) ? config[name] : {};
  if (!isTable(servers)) throw new ConfigError(`"${name}" is not what it should be`);
  return servers;
}

/** Whether two values are the same apart from prototypes, in which the parsers differ. */
const isSame = (a: unknown, b: unknown): boolean =>
  isDeepStrictEqual(structuredClone(a), structuredClone(b));

/**
 * Puts the entry into a configuration.
 *
 * @param servers Member that holds the servers.
 * @param parse Reads a text; throws {@linkcode ConfigError} when it is not valid.
 * @param insert Adds the entry to a text.
 * @throws {ConfigError} when the text is not valid or the edit would change anything else.
 */
export function putEntry(
  text: string,
  servers: string,
  entry: ServerEntry,
  parse: (text: string) => Table,
  insert: (text: string) => string,
): Edit {
  const before = parse(text);
  const others = serversOf(before, servers);
  if (isSame(others[SERVER_NAME], entry)) return { text, changed: false };
  const edited = insert(text);
  const wanted = { ...before, [servers]: { ...others, [SERVER_NAME]: entry } };
  let isSafe = false;
  try {
    isSafe = isSame(parse(edited), wanted);
  } catch {
    // Such as a second definition beside an inline table: said below, its line is not the file's.
  }
  if (!isSafe) throw new ConfigError("it is written in a way that cannot be changed safely");
  return { text: edited, changed: true };
}
