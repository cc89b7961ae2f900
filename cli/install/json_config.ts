import {
  findNodeAtLocation,
  parse,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import {
  type Change,
  checkEdit,
  ConfigError,
  type Edit,
  hasEntry,
  isTable,
  type OwnLines,
  SERVER_NAME,
  type ServerEntry,
  serversOf,
  type Table,
} from "./entry.ts";
import { addMember, layoutOf, replaceValue } from "./json_insert.ts";

const BOM = "\ufeff";
const withoutBom = (text: string): string => text.startsWith(BOM) ? text.slice(BOM.length) : text;

function parseTable(text: string, comments: boolean): Table {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, {
    disallowComments: !comments,
    allowTrailingComma: comments,
    allowEmptyContent: false,
  });
  const [error] = errors;
  if (error !== undefined) {
    const line = text.slice(0, error.offset).split("\n").length;
    throw new ConfigError(
      `it is not valid JSON (${printParseErrorCode(error.error)}, line ${line})`,
    );
  }
  if (!isTable(value)) throw new ConfigError("it is not a JSON object");
  return value;
}

function insert(text: string, servers: string, entry: ServerEntry): string {
  const layout = layoutOf(text);
  const root = parseTree(text, [], { allowTrailingComma: true })!;
  const old = findNodeAtLocation(root, [servers, SERVER_NAME]);
  if (old !== undefined) return replaceValue(text, old, entry, layout);
  const list = findNodeAtLocation(root, [servers]);
  if (list !== undefined) return addMember(text, list, SERVER_NAME, entry, layout);
  return addMember(text, root, servers, { [SERVER_NAME]: entry }, layout);
}

/**
 * Puts the entry into a JSON configuration; comments, order and layout of the rest stay.
 *
 * @param text The file; an empty one counts as `{}`.
 * @param servers Member that holds the servers.
 * @param comments Whether the host allows comments and trailing commas.
 * @throws {ConfigError} when the file is not valid or the edit would change anything else.
 */
export function editJson(
  text: string,
  servers: string,
  entry: ServerEntry,
  comments: boolean,
): Edit {
  const bom = text.startsWith(BOM) ? BOM : "";
  const source = text.slice(bom.length).trim() === "" ? "{}\n" : text.slice(bom.length);
  const before = parseTable(source, comments);
  serversOf(before, servers);
  if (hasEntry(before, servers, entry)) return { text, changed: false };
  const edited = insert(source, servers, entry);
  checkEdit(before, parseTable(edited, comments), servers, entry);
  return { text: bom + edited, changed: true };
}

/** The lines of a member, or of the whole text; a neighbour on the same line is left out. */
function linesOf(text: string, path: readonly string[]): OwnLines | undefined {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const node = root && path.length > 0 ? findNodeAtLocation(root, [...path])?.parent : root;
  if (node === undefined) return undefined;
  const end = node.offset + node.length;
  const before = text.slice(0, node.offset).split("\n");
  const indent = before.at(-1)!;
  const head = indent.trim() === "" ? indent : "…";
  const tail = /^[ \t]*,?[ \t]*(\r?\n|$)/.test(text.slice(end)) ? "" : "…";
  const own = `${head}${text.slice(node.offset, end)}${tail}`;
  return { line: before.length, lines: own.split(/\r?\n/) };
}

/** What {@linkcode editJson} made of a text, for people. */
export function jsonChange(before: string, after: string, servers: string): Change {
  const [old, now] = [withoutBom(before), withoutBom(after)];
  const path = [servers, SERVER_NAME];
  // What had to be made for the entry is shown, too.
  while (path.length > 0 && linesOf(old, path.slice(0, -1)) === undefined) path.pop();
  return { before: linesOf(old, path), after: linesOf(now, path)! };
}
