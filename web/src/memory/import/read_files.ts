import type { FoundInFile } from "../../importers/answer.ts";
import { readWithImporters } from "../../importers/read_with.ts";
import { count } from "../../text/format.ts";
import type { ImportPlan } from "./file_import.ts";
import {
  type ImportLines,
  isNdjsonName,
  isOwnNdjson,
  type PlacedLine,
  readNdjson,
  readTextLines,
  textOf,
} from "./import_lines.ts";

/** What a file holds, or why nothing can be taken of it. */
export interface ReadFile {
  readonly name: string;
  /** A text, or an export of this product. */
  readonly lines?: ImportLines;
  /** A file of another product. */
  readonly found?: FoundInFile;
  readonly error?: unknown;
}

/** Files that were read, and what is to be decided before they are imported. */
export interface ReadFiles {
  readonly files: readonly ReadFile[];
  /** Other namespaces than the chosen one that they name. */
  readonly namespaces: readonly string[];
}

/** Whether a name says that the file has a memory on each line. */
const isTextName = (name: string): boolean => /\.(?:txt|text)$/i.test(name);

/** Whether a file may be one of another product. */
function mayBeForeign(name: string, content: string): boolean {
  return /\.(?:json|md|markdown)$/i.test(name) || isNdjsonName(name) || /^\s*[[{]/.test(content);
}

async function readFile(file: File): Promise<ReadFile> {
  const { name } = file;
  const content = (await textOf(file)).replace(/^\ufeff/, "");
  if (isOwnNdjson(content)) return { name, lines: await readNdjson(content) };
  if (isTextName(name) || !mayBeForeign(name, content)) {
    return { name, lines: await readTextLines(content) };
  }
  try {
    return { name, found: await readWithImporters({ file: { path: name, content } }) };
  } catch (error) {
    // Lines of which the first is damaged.
    if (!isNdjsonName(name)) throw error;
    const lines = await readNdjson(content);
    if (lines.items.length === 0) throw error;
    return { name, lines };
  }
}

const linesIn = ({ lines, found }: ReadFile): readonly PlacedLine["line"][] =>
  lines?.items.map(({ line }) => line) ?? found?.memories ?? [];

/** Reads files; of each it is said whether anything can be taken. */
export async function readFiles(
  chosen: readonly File[],
  namespace: string,
): Promise<ReadFiles> {
  const files: ReadFile[] = [];
  for (const file of chosen) {
    files.push(await readFile(file).catch((error: unknown) => ({ name: file.name, error })));
  }
  const named = files.flatMap(linesIn).map((line) => line.namespace)
    .filter((name): name is string => typeof name === "string" && name !== "");
  return { files, namespaces: [...new Set(named)].filter((name) => name !== namespace) };
}

/** Reads a file as a text with a memory on each line, whatever it was taken for. */
export async function asTextLines(file: File): Promise<ReadFile> {
  return {
    name: file.name,
    lines: await readTextLines((await textOf(file)).replace(/^\ufeff/, "")),
  };
}

/** Whether somebody has to decide something before files are imported. */
export function needsPreview({ files, namespaces }: ReadFiles): boolean {
  const hasForeign = files.some(({ found }) => found !== undefined);
  const hasError = files.length > 1 && files.some(({ error }) => error !== undefined);
  return hasForeign || hasError || namespaces.length > 0;
}

function remarksOn({ name, lines }: ReadFile): string[] {
  if (lines === undefined) return [];
  const { broken, leftOut, versions, isIncomplete } = lines;
  const places = broken.slice(0, 5).join(", ") + (broken.length > 5 ? ", …" : "");
  return [
    ...broken.length > 0
      ? [`${name}: ${count(broken.length, "line holds", "lines hold")} no memory (${places}).`]
      : [],
    ...leftOut > 0
      ? [`${name}: ${count(leftOut, "memory was", "memories were")} left out when it was exported.`]
      : [],
    ...versions > 0
      ? [
        `${name}: ${
          count(versions, "earlier version", "earlier versions")
        } left out: svc import takes them.`,
      ]
      : [],
    ...isIncomplete
      ? [`${name} is an export whose end is missing: it may not hold everything.`]
      : [],
  ];
}

/** What is to be imported of files that were read. */
export function planOf(
  { files }: ReadFiles,
  namespace: string,
  isAllInto: boolean,
): ImportPlan {
  const isOne = files.length === 1;
  const place = (name: string, where: string) => isOne ? where : `${name}, ${where}`;
  return {
    items: files.flatMap(({ name, lines, found }) => [
      ...lines?.items.map(({ where, line }) => ({ where: place(name, where), line })) ?? [],
      ...found?.memories.map((line, i) => ({ where: place(name, `memory ${i + 1}`), line })) ?? [],
    ]),
    conversations: files.flatMap(({ found }) => found?.conversations ?? []),
    namespace,
    isAllInto,
    remarks: files.flatMap(remarksOn),
  };
}
