import type { Block } from "./block_reader.ts";
import type { Findings } from "./findings.ts";
import { type FrontMatter, frontText } from "./front_matter.ts";
import type { SkipReason, SourceFile } from "./importer.ts";
import { readBlocks } from "./markdown_blocks.ts";
import { noteOf, writtenAt } from "./markdown_notes.ts";

const MEMORY_FOLDER = /(?:^|[\\/])\.claude[\\/]projects[\\/]([^\\/]+)[\\/]memory[\\/][^\\/]+\.md$/i;
const FILE_NAME = /(?:^|[\\/])(?:CLAUDE|CLAUDE\.local|MEMORY)\.md$/i;
const INDEX_NAME = /(?:^|[\\/])MEMORY\.md$/i;

/** Whether a path is one under which Claude Code keeps what it remembers. */
export function isClaudeCodePath(path: string): boolean {
  return MEMORY_FOLDER.test(path) || FILE_NAME.test(path);
}

/** Kind of a memory: an inner member since the form with `metadata`. */
function kindOf(front: FrontMatter | undefined): string | undefined {
  return frontText(front, "type") ?? frontText(front, "metadata.type");
}

/** Whether front matter is that of a memory of Claude Code. */
export function isClaudeCodeFront(front: FrontMatter | undefined): boolean {
  return frontText(front, "name") !== undefined &&
    frontText(front, "description") !== undefined && kindOf(front) !== undefined;
}

/** Whether a paragraph is the reason for the one above it, or says when it applies. */
function goesOn(line: string): boolean {
  return /^\*\*(?:Why|How to apply):\*\*/i.test(line.trimStart());
}

/** A line of the index that has the title of another file and nothing else to keep. */
function isIndexLine({ kind, text }: Block): boolean {
  const end = text.startsWith("[") ? text.indexOf("](") : -1;
  return kind === "bullet" && end > 0 && /^[^()\s]*\.md\)/.test(text.slice(end + 2));
}

/** Whether a block does nothing but read another file in. */
function isImport({ text }: Block): boolean {
  return text.split("\n").every((line) => /^@[^\s@]+$/.test(line.trim()));
}

/**
 * Reads what Claude Code remembers, a file in Markdown: an entry is a paragraph or a bullet.
 */
export function readClaudeCode(found: Findings, { path, content }: SourceFile): void {
  const { front, body, firstLine } = noteOf(found, content);
  const isIndex = INDEX_NAME.test(path);
  const refuse = (block: Block): SkipReason | undefined =>
    isImport(block) || (isIndex && isIndexLine(block)) ? "index_line" : undefined;
  readBlocks(found, body, {
    metadata: [
      ["project", MEMORY_FOLDER.exec(path)?.[1]],
      ["name", frontText(front, "name")],
      ["description", frontText(front, "description")],
      ["type", kindOf(front)],
    ],
    occurred: writtenAt(front),
    firstLine,
    goesOn,
    refuse,
  });
}
