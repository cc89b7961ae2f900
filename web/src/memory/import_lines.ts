import type { RememberItem } from "../../../src/client/requests.ts";

/** A memory to be saved. */
export interface ImportItem {
  readonly text: string;
  readonly metadata?: NonNullable<RememberItem["metadata"]>;
  readonly importance?: number;
  readonly occurred_at?: string;
  readonly expires_at?: string;
}

/** What a file holds. */
export interface ImportLines {
  readonly items: readonly ImportItem[];
  /** Lines of NDJSON that hold no memory that can be read. */
  readonly skipped: number;
}

function parseLine(line: string): object | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a value may accompany a memory: an object of strings, numbers, booleans and null. */
function isMetadata(value: unknown): value is NonNullable<RememberItem["metadata"]> {
  return typeof value === "object" && value !== null && !Array.isArray(value) &&
    Object.values(value).every((item) => item === null || typeof item !== "object");
}

function itemOf(line: object): ImportItem | undefined {
  const member = (name: string): unknown => Reflect.get(line, name);
  const text = member("text");
  const metadata = member("metadata");
  const importance = member("importance");
  const occurred = member("occurred_at");
  const expires = member("expires_at");
  if (typeof text !== "string" || text.trim() === "") return undefined;
  return {
    text,
    ...(isMetadata(metadata) ? { metadata } : {}),
    ...(typeof importance === "number" ? { importance } : {}),
    ...(typeof occurred === "string" ? { occurred_at: occurred } : {}),
    ...(typeof expires === "string" ? { expires_at: expires } : {}),
  };
}

/** Whether a file says by its name that it holds NDJSON. */
export const isNdjsonName = (name: string): boolean => /\.(?:ndjson|jsonl)$/i.test(name);

/**
 * The text of a file.
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

/**
 * Reads a file for import: NDJSON in the form of an export, whose `memory` lines count, or a text
 * with a memory on each line.
 *
 * @param named Whether it is NDJSON by its name; else every line must be an object.
 */
export function readImport(content: string, named = false): ImportLines {
  const lines = content.split(/\r?\n/).filter((line) => line.trim() !== "");
  const parsed = lines.map(parseLine);
  const isNdjson = named || (parsed.length > 0 && parsed.every((line) => line !== undefined));
  if (!isNdjson) return { items: lines.map((line) => ({ text: line.trim() })), skipped: 0 };
  const memories = parsed.filter((line) =>
    line === undefined || (Reflect.get(line, "type") ?? "memory") === "memory"
  );
  const items = memories.map((line) => line && itemOf(line)).filter((item) => item !== undefined);
  return { items, skipped: memories.length - items.length };
}
