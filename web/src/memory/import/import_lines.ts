/** A memory to be imported, in the form of a line of an export. */
export type ImportLine = Readonly<Record<string, unknown>>;

/** A line with its place in its file. */
export interface PlacedLine {
  /** Such as `line 3`. */
  readonly where: string;
  /** What is sent; a text that is no JSON object is sent as it is, and refused. */
  readonly line: ImportLine;
}

/** What a file holds that needs no reader of another product's form. */
export interface ImportLines {
  readonly items: readonly PlacedLine[];
  /** Lines of NDJSON that are no objects. */
  readonly broken: readonly string[];
  /** Lines that stand for memories which the export left out. */
  readonly leftOut: number;
  /** Lines that say what memories said before, which are not taken here. */
  readonly versions: number;
  /** Whether it is an export whose last line is missing. */
  readonly isIncomplete: boolean;
}

/** Longest time that reading keeps the page waiting, in milliseconds. */
const SLICE_MS = 12;

function parseLine(line: string): ImportLine | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return JSON.parse(line) as ImportLine;
  } catch {
    return undefined;
  }
}

/** Whether a file says by its name that it holds NDJSON. */
export const isNdjsonName = (name: string): boolean => /\.(?:ndjson|jsonl)$/i.test(name);

/**
 * The text of a file, without a byte order mark.
 *
 * @throws {Error} when it is in an encoding that nobody named: its memories would be damaged.
 */
export async function textOf(file: Blob): Promise<string> {
  const text = await file.text();
  if (!text.includes("\ufffd")) return text;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch (cause) {
    throw new Error("This file is not UTF-8 text. Save it with that encoding first", { cause });
  }
}

/** Lets the page draw and answer. */
function breathe(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

/** Lines that are not blank, each with its number; lets the page draw in between. */
async function* linesOf(content: string): AsyncGenerator<{ line: string; number: number }[]> {
  let slice: { line: string; number: number }[] = [];
  let since = performance.now();
  for (const [i, raw] of content.split(/\r?\n/).entries()) {
    const line = raw.trim();
    if (line !== "") slice.push({ line, number: i + 1 });
    if (i % 256 !== 255 || performance.now() - since < SLICE_MS) continue;
    yield slice;
    slice = [];
    await breathe();
    since = performance.now();
  }
  yield slice;
}

/** Whether a text is an export of this product, or lines of memories in that form. */
export function isOwnNdjson(content: string): boolean {
  const first = parseLine(/\S[^\n]*/.exec(content)?.[0].trim() ?? "");
  if (first === undefined) return false;
  const type = first.type ?? "memory";
  return type === "memory" ? typeof first.text === "string" : type === "header";
}

/** Reads a text with a memory on each line. */
export async function readTextLines(content: string): Promise<ImportLines> {
  const items: PlacedLine[] = [];
  for await (const slice of linesOf(content)) {
    for (const { line, number } of slice) {
      items.push({ where: `line ${number}`, line: { text: line } });
    }
  }
  return { items, broken: [], leftOut: 0, versions: 0, isIncomplete: false };
}

/** Reads NDJSON in the form of an export, whose lines of memories count. */
export async function readNdjson(content: string): Promise<ImportLines> {
  const items: PlacedLine[] = [];
  const broken: string[] = [];
  let [leftOut, versions] = [0, 0];
  const ends = { header: false, end: false };
  for await (const slice of linesOf(content)) {
    for (const { line, number } of slice) {
      const value = parseLine(line);
      const where = `line ${number}`;
      const type = value?.type ?? "memory";
      if (value === undefined) broken.push(where);
      else if (type === "memory") items.push({ where, line: value });
      else if (type === "error") leftOut++;
      else if (type === "version") versions++;
      else if (type === "header" || type === "end") ends[type] = true;
    }
  }
  return { items, broken, leftOut, versions, isIncomplete: ends.header && !ends.end };
}
