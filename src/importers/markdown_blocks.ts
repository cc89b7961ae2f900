import type { Findings } from "./findings.ts";
import type { SkipReason } from "./importer.ts";
import { type Block, BlockReader } from "./block_reader.ts";

/** How blocks become memories. */
export interface BlockOptions {
  /** What stands before the number of a line, such as `[0].text `. */
  readonly where?: string;
  /** Members that every memory gets. */
  readonly metadata?: readonly (readonly [name: string, value: unknown])[];
  /** When all of it was written. */
  readonly occurred?: unknown;
  /** Number of the first line. */
  readonly firstLine?: number;
  /** Whether a line all in bold type is a heading; if nothing stands below it, it is a memory. */
  readonly boldHeadings?: boolean;
  /** Whether a paragraph goes on with what comes after an empty line. */
  readonly goesOn?: (line: string) => boolean;
  /** Why a block is not to be taken. */
  readonly refuse?: (block: Block) => SkipReason | undefined;
}

/** Paragraphs and bullets of a text in Markdown, each with the headings above it. */
export function blocksOf(text: string, options: BlockOptions = {}): readonly Block[] {
  const lines = text.split(/\r\n|\n|\r/);
  const reader = new BlockReader(lines, options);
  lines.forEach((line, at) => reader.read(line, at));
  return reader.end();
}

/** Adds a memory for each paragraph and each bullet of a text; those are its entries. */
export function readBlocks(found: Findings, text: string, options: BlockOptions = {}): void {
  const { where = "", metadata = [], firstLine = 1, occurred, refuse } = options;
  const blocks = blocksOf(text, options);
  found.expect(blocks.length);
  for (const block of blocks) {
    const place = `${where}line ${firstLine + block.line}`;
    const reason = block.kind === "comment"
      ? "comment"
      : block.kind === "heading"
      ? "no_text"
      : refuse?.(block);
    if (reason !== undefined) {
      found.skip(place, reason);
      continue;
    }
    const heading = block.headings.join(" > ");
    found.memory(place, {
      text: block.text,
      metadata: [...metadata, ...(heading === "" ? [] : [["heading", heading] as const])],
      occurred,
      // The same words under another heading mean something else.
      identity: JSON.stringify([where, heading, block.text]),
    });
  }
}
