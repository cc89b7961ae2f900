import { recognise } from "../../../src/importers/mod.ts";
import { IMPORT_BODY_BYTES } from "../../../src/wire/limits.ts";
import type { Input } from "./input.ts";
import { textLines } from "./text_lines.ts";

/** Most bytes of a line: what a request may have, and the line's end. */
const LINE_BYTES = IMPORT_BODY_BYTES - 1024;

/** A line of an export that is no memory. */
export interface OtherLine {
  /** `end` says that the export is whole. */
  readonly kind: "header" | "end" | "error" | "other";
}

/** A line that cannot be taken. */
export interface BadLine {
  readonly kind: "bad";
  readonly number: number;
  readonly problem: string;
}

/** A memory, as an import takes it, or what it said before. */
export interface MemoryLine {
  readonly kind: "memory";
  readonly isEarlier: boolean;
  readonly number: number;
  readonly line: string;
  readonly namespace: string | undefined;
}

/** Which namespace memories get. */
export interface Placing {
  /** Where all of them go. */
  readonly namespace?: string | undefined;
  /** Where those go that name none. */
  readonly fallback?: string | undefined;
}

/** Whether it is an export of svc, by its first lines: it may be too large to be read at once. */
export function isExport(path: string, { head, isAll }: Pick<Input, "head" | "isAll">): boolean {
  const text = new TextDecoder().decode(head);
  // A line that was cut says nothing.
  const content = isAll ? text : text.slice(0, text.lastIndexOf("\n") + 1);
  return content !== "" && recognise({ path, content }) === "svc";
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A line in its place; as it is where it is there already. */
function placed(line: string, value: object, { namespace, fallback }: Placing) {
  const own: unknown = Reflect.get(value, "namespace");
  const named = typeof own === "string" && own !== "" ? own : undefined;
  const wanted = namespace ?? named ?? fallback;
  const isThere = wanted === named || (own !== undefined && named === undefined && own !== "");
  return isThere
    ? { line, namespace: named }
    : { line: JSON.stringify({ ...value, namespace: wanted }), namespace: wanted };
}

/** What a line of an export is; nothing for an empty one. */
function readLine(
  number: number,
  text: string,
  placing: Placing,
): MemoryLine | OtherLine | BadLine | undefined {
  if (text.trim() === "") return undefined;
  const bad = (problem: string): BadLine => ({ kind: "bad", number, problem });
  const value = parse(text);
  if (value === undefined) return bad("the line is not JSON");
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return bad("the line is no object");
  }
  const type: unknown = Reflect.get(value, "type") ?? "memory";
  if (type === "header" || type === "end" || type === "error") return { kind: type };
  if (type !== "memory" && type !== "version") return { kind: "other" };
  const said: unknown = Reflect.get(value, "text");
  if (typeof said !== "string" || said.trim() === "") return bad("it has no text");
  const isEarlier = type === "version";
  return { kind: "memory", isEarlier, number, ...placed(text, value, placing) };
}

/** The lines of an export of any size, as they are read. */
export async function* exportedLines(
  chunks: AsyncIterable<Uint8Array>,
  placing: Placing,
): AsyncGenerator<MemoryLine | OtherLine | BadLine, void, undefined> {
  for await (const line of textLines(chunks, LINE_BYTES)) {
    if ("problem" in line) yield { kind: "bad", number: line.number, problem: line.problem };
    else {
      const read = readLine(line.number, line.text, placing);
      if (read !== undefined) yield read;
    }
  }
}
