import { SvcError } from "../errors.ts";
import { timeOf } from "./times.ts";
import { frontMatterOf, frontText } from "./front_matter.ts";
import type { FlatMetadata } from "./importer.ts";
import { isObject, parseJson } from "./json_members.ts";

/** A memory as an export writes it, without what only the relayer knows. */
export interface MarkdownMemory {
  /** A UUID. */
  readonly memory_id: string;
  /** Where it is kept. */
  readonly namespace: string;
  /** What is remembered. */
  readonly text: string;
  /** From 1. */
  readonly version?: number;
  /** When it was accepted first: RFC 3339, as all of its times. */
  readonly created_at?: string;
  /** When it changed last. */
  readonly updated_at?: string;
  /** When the fact happened. */
  readonly occurred_at?: string;
  /** When it ends. */
  readonly expires_at?: string;
  /** From 0 to 1. */
  readonly importance?: number;
  /** Flat data. */
  readonly metadata?: FlatMetadata;
  /** How the memory was made, such as `remember`. */
  readonly source?: string;
}

/** What says that a file is of this form, and in which edition. */
const FORM = "svc-memory/1";

/** Members of front matter that are texts, in the order in which they are written. */
const TEXTS = [
  "memory_id",
  "namespace",
  "source",
  "created_at",
  "updated_at",
  "occurred_at",
  "expires_at",
] as const;

const NUMBERS = ["version", "importance"] as const;

/** Letters that some reader of YAML takes for the end of a line, or refuses. */
const UNSAFE = /[\u007f-\u009f\u2028\u2029\ufeff]/g;

/** JSON in one line, which is YAML too. */
function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(
    UNSAFE,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * A memory as a file in Markdown: front matter, and then the text exactly as it is, without a line
 * feed that it does not have.
 */
export function toMarkdown(memory: MarkdownMemory): string {
  const lines = [`format: ${FORM}`];
  for (const name of TEXTS) {
    const value = memory[name];
    if (value !== undefined) lines.push(`${name}: ${jsonLine(value)}`);
  }
  for (const name of NUMBERS) {
    const value = memory[name];
    if (value !== undefined) lines.push(`${name}: ${value}`);
  }
  if (memory.metadata !== undefined) lines.push(`metadata: ${jsonLine(memory.metadata)}`);
  return `---\n${lines.join("\n")}\n---\n${memory.text}`;
}

/** Whether a file says that it is of this form. */
export function isMarkdownMemory(content: string): boolean {
  return frontText(frontMatterOf(content), "format") === FORM;
}

function wrong(name: string, rule: string): SvcError {
  return new SvcError("invalid_parameter", `${name} ${rule}`, { field: name });
}

function isFlat(value: unknown): value is FlatMetadata {
  return isObject(value) &&
    Object.values(value).every((member) => member === null || typeof member !== "object");
}

/**
 * A memory from its file: what {@linkcode toMarkdown} wrote comes back exactly. Members that are
 * not known are left alone.
 *
 * @returns `undefined` when the file does not say that it is of this form.
 * @throws {SvcError} `invalid_parameter` when it does, and a member of it cannot be read; `field`
 * names the member.
 */
export function fromMarkdown(content: string): MarkdownMemory | undefined {
  const front = frontMatterOf(content);
  if (front === undefined || frontText(front, "format") !== FORM) return undefined;
  const texts: Partial<Record<(typeof TEXTS)[number], string>> = {};
  for (const name of TEXTS) {
    const value = front.values.get(name);
    if (value === undefined) continue;
    if (typeof value !== "string" || front.odd.includes(name)) throw wrong(name, "must be a text");
    if (name.endsWith("_at") && timeOf(value) === undefined) throw wrong(name, "must be a time");
    texts[name] = value;
  }
  const numbers: Partial<Record<(typeof NUMBERS)[number], number>> = {};
  for (const name of NUMBERS) {
    const value = front.values.get(name);
    if (value === undefined) continue;
    const number = value === "" ? NaN : Number(value);
    const isRight = Number.isFinite(number) && number >= 0 &&
      (name === "version" || number <= 1);
    if (!isRight) throw wrong(name, "must be a number, and an importance from 0 to 1");
    numbers[name] = number;
  }
  const written = front.values.get("metadata");
  const metadata = written === undefined ? undefined : parseJson(String(written));
  if (written !== undefined && !isFlat(metadata)) {
    throw wrong("metadata", "must be a flat JSON object in one line");
  }
  const { memory_id, namespace, ...others } = texts;
  if (memory_id === undefined) throw wrong("memory_id", "is missing");
  if (namespace === undefined) throw wrong("namespace", "is missing");
  return {
    memory_id,
    namespace,
    text: front.body,
    ...others,
    ...numbers,
    ...(isFlat(metadata) ? { metadata } : {}),
  };
}

/** Most UTF-16 units of the text in the name of a file: 4 bytes each stay far below 255. */
const NAME_UNITS = 48;
/** Characters of the id in the name: 48 bits of a UUID, from its end, which is random. */
const ID_CHARACTERS = 12;

/**
 * Name of the file of a memory: the first words of its text and the end of its id, which makes it
 * unique. Before `.md` it has only letters of any script, digits and hyphens, and never the name of
 * a device alone, so every system can keep it.
 */
export function fileNameOf(memory: Pick<MarkdownMemory, "memory_id" | "text">): string {
  const start = memory.text.slice(0, 4 * NAME_UNITS).toWellFormed().toLowerCase()
    .normalize("NFC");
  const words = start.match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu) ?? [];
  let name = "";
  for (const word of words) {
    const longer = name === "" ? word : `${name}-${word}`;
    if (longer.length > NAME_UNITS) {
      // A text without spaces is one long word.
      if (name === "") name = [...word].slice(0, NAME_UNITS / 2).join("");
      break;
    }
    name = longer;
  }
  const id = memory.memory_id.toLowerCase().replaceAll(/[^a-z0-9]/g, "").slice(-ID_CHARACTERS);
  return `${name === "" ? "memory" : name}-${id}.md`;
}
