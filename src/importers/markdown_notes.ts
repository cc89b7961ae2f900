import type { Findings } from "./findings.ts";
import {
  type FrontMatter,
  frontMatterOf,
  frontText,
  type FrontValue,
  withoutMark,
} from "./front_matter.ts";
import { readBlocks } from "./markdown_blocks.ts";

/** Names under which programs write down when a note was made. */
const WRITTEN = ["created", "created_at", "date"] as const;

/** Most members of front matter that are kept: every memory of the note carries them. */
const MEMBERS = 50;

/** A note without its front matter, and where it starts. */
export interface Note {
  readonly front: FrontMatter | undefined;
  readonly body: string;
  readonly firstLine: number;
}

/** Takes a note apart, and notes what of its front matter is kept as text. */
export function noteOf(found: Findings, content: string): Note {
  const front = frontMatterOf(content);
  if (front === undefined) return { front, body: withoutMark(content), firstLine: 1 };
  found.note("line 1", "front_matter_text", front.odd);
  return { front, body: front.body, firstLine: front.bodyLine };
}

/** When a note was made, if it says so. */
export function writtenAt(front: FrontMatter | undefined): FrontValue | undefined {
  return WRITTEN.map((name) => front?.values.get(name)).find((value) => value !== undefined);
}

/** Members of front matter as metadata, lists as one text; notes those that are too many. */
function metadataOf(
  found: Findings,
  front: FrontMatter | undefined,
): readonly (readonly [name: string, value: string | undefined])[] {
  const names = [...front?.values.keys() ?? []];
  found.note("line 1", "metadata_dropped", names.slice(MEMBERS));
  return names.slice(0, MEMBERS).map((name) => [name, frontText(front, name)] as const);
}

/** Reads a note in Markdown or plain text: an entry is a paragraph or a bullet. */
export function readMarkdown(found: Findings, content: string): void {
  const { front, body, firstLine } = noteOf(found, content);
  readBlocks(found, body, {
    metadata: metadataOf(found, front),
    occurred: writtenAt(front),
    firstLine,
  });
}
