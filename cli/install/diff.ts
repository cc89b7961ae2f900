import { printable } from "../io.ts";

/** Longest line that is shown, in characters. */
const LINE_CHARACTERS = 2000;

/** A line without what looks like a key, and not too long. */
function shown(line: string): string {
  const text = printable(line).replace(/[0-9a-fA-F]{64,}/g, "(hidden)");
  return text.length > LINE_CHARACTERS ? `${text.slice(0, LINE_CHARACTERS)}…` : text;
}

const linesOf = (text: string): string[] =>
  text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);

/** A neighbour of what is added may only have got a comma. */
const isSame = (old: string | undefined, now: string | undefined): boolean =>
  old === now || old === now?.replace(/,(?=\s*(\/[\/*].*)?$)/, "");

/**
 * The lines in which two texts differ, marked with `-` and `+`. No other lines are shown, because a
 * configuration may hold keys of other servers; of a file that is one line, only what is added.
 *
 * @param added What is added, for people.
 */
export function diffLines(before: string, after: string, added: string): string {
  const old = linesOf(before);
  if (old.length === 1 && before.length > 80) {
    return `@@ line 1, ${before.length} characters @@\n+ ${shown(added)}\n`;
  }
  const now = linesOf(after);
  const shorter = Math.min(old.length, now.length);
  let start = 0;
  while (start < shorter && isSame(old[start], now[start])) start++;
  let end = 0;
  while (end < shorter - start && isSame(old.at(-1 - end), now.at(-1 - end))) end++;
  const part = (lines: string[], mark: string): string[] =>
    lines.slice(start, lines.length - end).map((line) => `${mark} ${shown(line)}\n`);
  return `@@ line ${start + 1} @@\n` + [...part(old, "-"), ...part(now, "+")].join("");
}
