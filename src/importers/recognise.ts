import { hasObservations } from "./basic_memory.ts";
import { isChatGptConversation } from "./chatgpt.ts";
import { isClaudeConversation, isClaudeMemories } from "./claude.ts";
import { isClaudeCodeFront, isClaudeCodePath } from "./claude_code.ts";
import { frontMatterOf, frontText, withoutMark } from "./front_matter.ts";
import type { FormatName, SourceFile } from "./importer.ts";
import { listOf, memberOf, parseJson, textOf } from "./json_members.ts";
import { isMarkdownMemory } from "./markdown_file.ts";
import { isGraphLine, linesOf } from "./mcp_memory.ts";

const TEXT_NAME = /\.(?:md|markdown|txt|text)$/i;
const LINES_NAME = /\.(?:ndjson|jsonl)$/i;

/** Items of a list that are looked at: the first may be damaged. */
const LOOKED_AT = 100;

/** Format of which a value is the whole, or an item of the whole. */
function formatOfItem(item: unknown): FormatName | undefined {
  if (isChatGptConversation(item)) return "chatgpt";
  if (isClaudeConversation(item) || isClaudeMemories(item)) return "claude";
  if (isGraphLine(item)) return "mcp-memory";
  if (typeof memberOf(item, "memory") === "string") return "mem0";
  return undefined;
}

/** Format of a list of memories that are called by other names. */
function formatOfTexts(list: readonly unknown[]): FormatName | undefined {
  const item = list.slice(0, LOOKED_AT).find((one) =>
    (textOf(one, "content") ?? textOf(one, "text")) !== undefined
  );
  if (item === undefined) return undefined;
  // A backup of mem0 has these for each memory, and no export of ChatGPT does.
  return memberOf(item, "user_id") !== undefined || memberOf(item, "app_id") !== undefined
    ? "mem0"
    : "chatgpt";
}

function formatOfList(list: readonly unknown[]): FormatName | undefined {
  for (const item of list.slice(0, LOOKED_AT)) {
    const format = formatOfItem(item);
    if (format !== undefined && format !== "mcp-memory") return format;
  }
  return formatOfTexts(list);
}

/** Format of a file that is one JSON value. */
function formatOfJson(root: unknown): FormatName | undefined {
  const own = formatOfLine(root) ?? formatOfItem(root);
  if (own !== undefined) return own;
  if (Array.isArray(root)) return formatOfList(root);
  const list = listOf(root, "memories") ?? listOf(root, "results");
  if (list !== undefined) return formatOfList(list) ?? "mem0";
  return listOf(root, "conversations")?.some(isClaudeConversation) ? "claude" : undefined;
}

/** Format of which an object is a line. */
function formatOfLine(line: unknown): FormatName | undefined {
  if (isGraphLine(line)) return "mcp-memory";
  const type = memberOf(line, "type");
  const isHeader = type === "header" && textOf(line, "format")?.startsWith("svc-export/") === true;
  return isHeader || (type === "memory" && textOf(line, "text") !== undefined) ? "svc" : undefined;
}

/** Format of a file with a JSON object on each line, of which some may be damaged. */
function formatOfLines(path: string, content: string): FormatName | undefined {
  let hasTexts = false;
  for (const line of linesOf(content)) {
    if (!line.trimStart().startsWith("{")) continue;
    const value = parseJson(line);
    const format = formatOfLine(value);
    if (format !== undefined) return format;
    hasTexts ||= textOf(value, "text") !== undefined;
  }
  // Lines of memories alone are taken as an import of this product takes them.
  return hasTexts && LINES_NAME.test(path) ? "svc" : undefined;
}

function formatOfNote(path: string, content: string): FormatName | undefined {
  const front = frontMatterOf(content);
  if (isMarkdownMemory(content)) return "svc-markdown";
  if (isClaudeCodePath(path) || isClaudeCodeFront(front)) return "claude-code";
  const isEntity = frontText(front, "title") !== undefined &&
    frontText(front, "type") !== undefined;
  const isBasic = isEntity &&
    (front?.values.has("permalink") === true || hasObservations(front?.body ?? ""));
  if (isBasic) return "basic-memory";
  return TEXT_NAME.test(path) ? "markdown" : undefined;
}

/**
 * Format of a file, by what is in it, and where that says nothing by its name.
 *
 * @returns `undefined` when it is none that is known.
 */
export function recognise(file: SourceFile): FormatName | undefined {
  const content = withoutMark(file.content);
  if (/^\s*[[{]/.test(content)) {
    const root = parseJson(content);
    const format = root === undefined
      ? formatOfLines(file.path, content)
      : formatOfJson(root) ?? formatOfLines(file.path, content);
    if (format !== undefined) return format;
  }
  return formatOfNote(file.path, content);
}
