import type { Block } from "./block_reader.ts";
import type { Candidate, Findings } from "./findings.ts";
import { type FrontMatter, frontText } from "./front_matter.ts";
import type { SourceFile } from "./importer.ts";
import { blocksOf } from "./markdown_blocks.ts";
import { noteOf, writtenAt } from "./markdown_notes.ts";

type Members = readonly (readonly [name: string, value: unknown])[];

const OBSERVATION = /^\[([^[\]()]+)\][ \t]+(\S.*)$/s;
/** Longest title, and longest list of tags, of a note: every memory of it carries them. */
const TITLE_UNITS = 200;
const TAGS_UNITS = 1000;

/** What stands in brackets of a transcript: a time. */
const CLOCK = /^\d{1,3}:\d\d(?::\d\d)?(?:[.,]\d{1,3})?(?: +- +\d[\d:.,]*)?$/;

/** Whether a word in brackets is a category: neither a tick of a task nor a time. */
function isCategory(word: string): boolean {
  const isTick = word.length < 2 && !/[a-wyz0-9]/i.test(word);
  return word !== "" && !isTick && !CLOCK.test(word);
}

interface Observation {
  readonly category: string;
  readonly text: string;
}

function observationIn(text: string): Observation | undefined {
  const [, word = "", said = ""] = OBSERVATION.exec(text) ?? [];
  const category = word.trim();
  return said !== "" && isCategory(category) ? { category, text: said } : undefined;
}

interface Relation {
  readonly type: string;
  readonly to: string;
  readonly context: string;
}

/** `type [[target]] (context)`; a sentence with a link in it is none. */
function relationIn(text: string): Relation | undefined {
  const start = text.indexOf("[[");
  const end = start < 0 ? -1 : text.indexOf("]]", start);
  if (end < 0 || text.includes("\n")) return undefined;
  const to = text.slice(start + 2, end).trim();
  const label = text.slice(0, start).trim();
  const [, quoted] = /^(?:"([^"]+)"|'([^']+)')$/.exec(label)?.filter((part) => part) ?? [];
  const type = quoted ?? (label === "" ? "links_to" : label);
  const context = text.slice(end + 2).trim();
  const isSentence = quoted === undefined && /\s/.test(label);
  const isContext = context === "" || /^\([^()]*\)$/.test(context);
  return to === "" || isSentence || !isContext
    ? undefined
    : { type, to, context: context.slice(1, -1).trim() };
}

/** Tags of a whole note; notes when there are too many to keep. */
function tagsOfNote(found: Findings, front: FrontMatter | undefined): readonly string[] {
  const tags = frontText(front, "tags") ?? "";
  if (tags.length <= TAGS_UNITS) return tags.split(",");
  found.note("line 1", "metadata_dropped", ["tags"]);
  return [];
}

/** Words after `#`, and those of the whole note, each once. */
function tagsOf(text: string, ofNote: readonly string[]): string | undefined {
  const ofText = text.split(/\s+/).filter((word) => /^#[^#\s]/.test(word));
  const tags = [...ofNote, ...ofText.flatMap((word) => word.split("#"))].map((tag) => tag.trim());
  const once = new Set(tags.filter((tag) => tag !== ""));
  return once.size === 0 ? undefined : [...once].join(", ");
}

/** Title of a note: what it says, or the name of its file. */
function titleOf(front: FrontMatter | undefined, path: string): string {
  const name = path.split(/[\\/]/).at(-1) ?? "";
  const title = frontText(front, "title")?.trim() ?? "";
  const isTitle = title !== "" && title.length <= TITLE_UNITS;
  return isTitle ? title : name.replace(/\.(?:md|markdown)$/i, "").slice(0, TITLE_UNITS)
    .toWellFormed();
}

/** Whether a text has lines that only notes of basic-memory have. */
export function hasObservations(body: string): boolean {
  return blocksOf(body).some(({ kind, text }) =>
    kind === "bullet" && (observationIn(text) ?? relationIn(text)) !== undefined
  );
}

/** What a block says; a bullet of the graph gets the name of the note, without which it is lost. */
function candidateOf(block: Block, title: string, common: Members): Candidate {
  const isBullet = block.kind === "bullet";
  const relation = isBullet ? relationIn(block.text) : undefined;
  if (relation !== undefined) {
    const { type, to, context } = relation;
    const end = context === "" ? "" : ` (${context})`;
    return {
      text: `${title} ${type.replaceAll("_", " ")} ${to}${end}`,
      metadata: [...common, ["relation", type], ["to", to]],
    };
  }
  const observation = isBullet ? observationIn(block.text) : undefined;
  if (observation !== undefined) {
    const { category, text } = observation;
    return { text: `${title}: ${text}`, metadata: [...common, ["category", category]] };
  }
  const heading = block.headings.join(" > ");
  return {
    text: block.text,
    metadata: heading === "" ? common : [...common, ["heading", heading]],
    identity: JSON.stringify([heading, block.text]),
  };
}

/**
 * Reads a note of basic-memory: an entry is an observation, a relation, or another paragraph or
 * bullet.
 */
export function readBasicMemory(found: Findings, { path, content }: SourceFile): void {
  const { front, body, firstLine } = noteOf(found, content);
  const title = titleOf(front, path);
  const noteTags = tagsOfNote(found, front);
  const blocks = blocksOf(body);
  found.expect(blocks.length);
  for (const block of blocks) {
    const where = `line ${firstLine + block.line}`;
    if (block.kind === "comment" || block.kind === "heading") {
      found.skip(where, block.kind === "comment" ? "comment" : "no_text");
      continue;
    }
    const common: Members = [
      ["title", title],
      ["type", frontText(front, "type")],
      ["permalink", frontText(front, "permalink")],
      ["tags", tagsOf(block.text, noteTags)],
    ];
    const occurred = writtenAt(front);
    found.memory(where, { ...candidateOf(block, title, common), occurred });
  }
}
