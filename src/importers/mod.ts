import { SvcError } from "../errors.ts";
import { readBasicMemory } from "./basic_memory.ts";
import { readChatGpt } from "./chatgpt.ts";
import { readClaude } from "./claude.ts";
import { readClaudeCode } from "./claude_code.ts";
import { Findings } from "./findings.ts";
import { withoutMark } from "./front_matter.ts";
import {
  FORMAT_NAMES,
  type FormatName,
  type ImportReport,
  SKIP_REASONS,
  type SkipReason,
  type SourceFile,
} from "./importer.ts";
import { parseJson } from "./json_members.ts";
import { fromMarkdown } from "./markdown_file.ts";
import { readMarkdown } from "./markdown_notes.ts";
import { readMcpMemory } from "./mcp_memory.ts";
import { readMem0 } from "./mem0.ts";
import { recognise } from "./recognise.ts";

export * from "./importer.ts";
export { type ConversationText, labelOf, textsForAnalyze } from "./conversation_texts.ts";
export { fileNameOf, fromMarkdown, type MarkdownMemory, toMarkdown } from "./markdown_file.ts";
export { recognise } from "./recognise.ts";

/** Reads a file into the findings, and says whether it is of the format at all. */
type Reader = (found: Findings, file: SourceFile) => boolean;

const json = (read: (found: Findings, root: unknown) => boolean): Reader => (found, { content }) =>
  read(found, parseJson(content));

const text = (read: (found: Findings, file: SourceFile) => void): Reader => (found, file) => {
  read(found, file);
  return true;
};

function readOwnMarkdown(found: Findings, { content }: SourceFile): boolean {
  const memory = fromMarkdown(content);
  if (memory === undefined) return false;
  found.expect(1);
  found.memory("line 1", {
    text: memory.text,
    metadata: Object.entries(memory.metadata ?? {}),
    occurred: memory.occurred_at,
    expires: memory.expires_at,
    importance: memory.importance,
    namespace: memory.namespace,
  });
  return true;
}

const READERS: Readonly<Record<Exclude<FormatName, "svc">, Reader>> = {
  mem0: json(readMem0),
  "mcp-memory": (found, { content }) => readMcpMemory(found, content),
  chatgpt: json(readChatGpt),
  claude: json(readClaude),
  "claude-code": text(readClaudeCode),
  "basic-memory": text(readBasicMemory),
  markdown: text((found, { content }) => readMarkdown(found, content)),
  "svc-markdown": readOwnMarkdown,
};

/** Formats of which a file is one JSON value. */
const JSON_FORMATS: ReadonlySet<FormatName> = new Set(["mem0", "chatgpt", "claude"]);

/** An error about a file: its message has the path, as the caller gave it, and nothing of the file. */
function refused(path: string, message: string, cause?: unknown): SvcError {
  return new SvcError("invalid_parameter", `${path}: ${message}`, { cause });
}

/** Why nothing was taken, each reason with its number. */
function reasonsOf({ skipped }: ImportReport): string {
  const counts = new Map<SkipReason, number>();
  for (const { reason } of skipped) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts].map(([reason, count]) => `${count}: ${SKIP_REASONS[reason]}`).join("; ");
}

function readFile(file: SourceFile, named: FormatName | undefined): ImportReport {
  const { path } = file;
  const format = named ?? recognise(file);
  const isJson = format === undefined ? /\.json$/i.test(path) : JSON_FORMATS.has(format);
  if (isJson && parseJson(withoutMark(file.content)) === undefined) {
    throw refused(path, "this is not JSON; the file may be incomplete");
  }
  if (format === undefined) {
    throw refused(path, `this is none of the formats that can be read: ${FORMAT_NAMES.join(", ")}`);
  }
  if (format === "svc") {
    throw refused(path, "this is an export of svc, which is imported as it is");
  }
  const found = new Findings(format, path);
  const content = withoutMark(file.content);
  let fits: boolean;
  try {
    fits = READERS[format](found, { path, content });
  } catch (error) {
    if (error instanceof SvcError) throw refused(path, error.message, error);
    throw error;
  }
  if (!fits) throw refused(path, `this file does not have the form of ${format}`);
  const report = found.report();
  if (report.taken > 0) return report;
  const why = report.entries === 0 ? "it is empty" : `nothing can be taken (${reasonsOf(report)})`;
  throw refused(path, `${format} was recognised, but ${why}`);
}

/**
 * Reads memories and conversations out of files of other products.
 *
 * @param format What all files are; without it each is recognised by itself.
 * @returns One report for each file, in their order.
 * @throws {SvcError} `invalid_parameter` for a file of which nothing can be taken, that does not
 * have the form of the format that was named, that is of none, or that is an export of this
 * product. The message starts with the file's path and has nothing of its texts.
 */
export function readMemories(
  files: readonly SourceFile[],
  format?: FormatName,
): ImportReport[] {
  return files.map((file) => readFile(file, format));
}
