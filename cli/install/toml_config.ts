import { parse, stringify, TomlError } from "smol-toml";
import {
  type Change,
  ConfigError,
  type Edit,
  type OwnLines,
  putEntry,
  SERVER_NAME,
  type ServerEntry,
  type Table,
} from "./entry.ts";

function parseTable(text: string): Table {
  try {
    // Numbers of 64 bits are valid, whoever reads them.
    return parse(text, { integersAsBigInt: "asNeeded" });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new ConfigError(`it is not valid TOML (line ${error.line})`);
  }
}

/** Headers such as `[a]` and `[[a]]`; their keys with dots, quotes and spaces taken away. */
function headerOf(line: string): string | undefined {
  const header = /^\s*\[\[?([^\]]+)\]\]?\s*(#.*)?$/.exec(line)?.[1];
  return header?.split(".").map((key) => key.trim().replace(/^(["'])(.*)\1$/, "$2")).join(".");
}

/** Lines of the table and its subtables; blank lines and comments before the next one are its own. */
function ownLines(lines: readonly string[], table: string): Set<number> {
  const own = new Set<number>();
  let inside = false;
  let pending: number[] = [];
  for (const [number, line] of lines.entries()) {
    const header = headerOf(line);
    if (header !== undefined) {
      inside = header === table || header.startsWith(`${table}.`);
      if (inside) { for (const earlier of own.size > 0 ? pending : []) own.add(earlier); }
      pending = [];
    }
    if (!inside) continue;
    if (/^\s*(#.*)?$/.test(line)) pending.push(number);
    else {
      for (const earlier of pending) own.add(earlier);
      pending = [];
      own.add(number);
    }
  }
  return own;
}

function insert(text: string, servers: string, entry: ServerEntry): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const table = stringify({ [servers]: { [SERVER_NAME]: entry } }).trim().split("\n");
  const lines = text.split(/\r?\n/);
  const own = ownLines(lines, `${servers}.${SERVER_NAME}`);
  const [first] = own;
  const edited: string[] = [];
  for (const [number, line] of lines.entries()) {
    if (number === first) edited.push(...table);
    if (!own.has(number)) edited.push(line);
  }
  if (first === undefined) {
    while (edited.at(-1)?.trim() === "") edited.pop();
    edited.push(...(edited.length > 0 ? [""] : []), ...table, "");
  }
  return edited.join(eol);
}

/**
 * Puts the entry into a TOML configuration by replacing or appending its table; every other line
 * stays as it is.
 *
 * @param text The file; may be empty.
 * @param servers Table that holds the servers.
 * @throws {ConfigError} when the file is not valid or the edit would change anything else.
 */
export function editToml(text: string, servers: string, entry: ServerEntry): Edit {
  return putEntry(text, servers, entry, parseTable, (text) => insert(text, servers, entry));
}

function linesOf(text: string, table: string): OwnLines | undefined {
  const lines = text.split(/\r?\n/);
  const own = ownLines(lines, table);
  const [first] = own;
  if (first === undefined) return undefined;
  return { line: first + 1, lines: lines.filter((_, number) => own.has(number)) };
}

/** What {@linkcode editToml} made of a text, for people. */
export function tomlChange(before: string, after: string, servers: string): Change {
  const table = `${servers}.${SERVER_NAME}`;
  return { before: linesOf(before, table), after: linesOf(after, table)! };
}
