import { onOneLine } from "../../src/printable.ts";
import type { Change } from "./entry.ts";

/** Longest line that is shown, in characters. */
const LINE_CHARACTERS = 2000;

/** A line without what looks like a key, and not too long. */
function shown(line: string): string {
  const text = onOneLine(line).replace(/[0-9a-fA-F]{64,}/g, "(hidden)");
  return text.length > LINE_CHARACTERS ? `${text.slice(0, LINE_CHARACTERS)}…` : text;
}

/** The lines in which an entry differs, marked with `-` and `+`. */
export function diffLines({ before, after }: Change): string {
  const old = before?.lines ?? [];
  const now = after.lines;
  const shorter = Math.min(old.length, now.length);
  let start = 0;
  while (start < shorter && old[start] === now[start]) start++;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const part = (lines: readonly string[], mark: string): string[] =>
    lines.slice(start, lines.length - end).map((line) => `${mark} ${shown(line)}\n`);
  return `@@ line ${after.line + start} @@\n` + [...part(old, "-"), ...part(now, "+")].join("");
}
