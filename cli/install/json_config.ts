import {
  findNodeAtLocation,
  type Node,
  parse,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import {
  type Change,
  ConfigError,
  type Edit,
  isTable,
  type OwnLines,
  putEntry,
  SERVER_NAME,
  type ServerEntry,
  type Table,
} from "./entry.ts";

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

/** How a JSON text is laid out. */
interface Layout {
  /** One step of indentation. */
  readonly unit: string;
  readonly eol: string;
}

/** The layout of a text, so that what is added looks like the rest. */
function layoutOf(text: string): Layout {
  return {
    unit: /\n([ \t]+)\S/.exec(text)?.[1]?.replace(/^\t+$/, "\t") ?? "  ",
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  };
}

/** White space at the start of the line of an offset. */
const indentAt = (text: string, offset: number): string =>
  /(?:^|\n)([ \t]*)[^\n]*$/.exec(text.slice(0, offset))?.[1] ?? "";

const startsLine = (text: string, offset: number): boolean =>
  /(^|\n)[ \t]*$/.test(text.slice(0, offset));

/** A value as JSON over several lines; the first one continues a line that is indented so far. */
function render(value: unknown, indent: string, { unit, eol }: Layout): string {
  return JSON.stringify(value, null, unit).replaceAll("\n", eol + indent);
}

const COMMENT = /\/\/[^\r\n]*|\/\*[^]*?\*\//;
const TRAIL = new RegExp(`^(?:[ \\t]*(?:,|${COMMENT.source}))*`);

/** What follows the last member on its line: whether there is a comma, and where comments end. */
function trailOf(text: string, end: number): { readonly comma: boolean; readonly end: number } {
  const trail = TRAIL.exec(text.slice(end))?.[0] ?? "";
  const comma = trail.replaceAll(new RegExp(COMMENT, "g"), "").includes(",");
  return { comma, end: end + trail.length };
}

/** Adds a member at the end of an object; every other character stays, but for a comma. */
function addMember(
  text: string,
  object: Node,
  key: string,
  value: unknown,
  layout: Layout,
): string {
  const name = `${JSON.stringify(key)}: `;
  const [first] = object.children ?? [];
  const last = object.children?.at(-1);
  const outer = indentAt(text, object.offset);
  if (first === undefined || last === undefined) {
    const at = object.offset + 1;
    const indent = outer + layout.unit;
    const rest = text.slice(at);
    const closing = /^[ \t]*\}/.test(rest) ? layout.eol + outer : "";
    const member = name + render(value, indent, layout);
    return text.slice(0, at) + layout.eol + indent + member + closing +
      rest.replace(/^[ \t]+(?=\})/, "");
  }
  const end = last.offset + last.length;
  if (!startsLine(text, first.offset)) {
    return `${text.slice(0, end)}, ${name}${JSON.stringify(value)}${text.slice(end)}`;
  }
  const trail = trailOf(text, end);
  const indent = indentAt(text, first.offset);
  const member = layout.eol + indent + name + render(value, indent, layout);
  return text.slice(0, end) + (trail.comma ? "" : ",") + text.slice(end, trail.end) + member +
    (trail.comma ? "," : "") + text.slice(trail.end);
}

function insert(text: string, servers: string, entry: ServerEntry): string {
  const layout = layoutOf(text);
  const root = parseTree(text, [], { allowTrailingComma: true })!;
  const old = findNodeAtLocation(root, [servers, SERVER_NAME]);
  if (old !== undefined) {
    const value = render(entry, indentAt(text, old.offset), layout);
    return text.slice(0, old.offset) + value + text.slice(old.offset + old.length);
  }
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
  const read = (text: string) => parseTable(text, comments);
  const edit = putEntry(source, servers, entry, read, (text) => insert(text, servers, entry));
  return { ...edit, text: bom + edit.text };
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
