import { onOneLine } from "../src/printable.ts";
import { ago } from "../src/client/text/relative_time.ts";
import type { CliIo } from "./io.ts";

/** Text for a person; what is less important is dim where the terminal has colours. */
export interface Paint {
  /** Less important than what stands around it. */
  dim(text: string): string;
}

const plain: Paint = { dim: (text) => text };
const coloured: Paint = { dim: (text) => text === "" ? "" : `\u001b[2m${text}\u001b[22m` };

/** Colours for a terminal that has them, unless `NO_COLOR` says otherwise (https://no-color.org). */
export function paintFor({ isTerminal, env }: Pick<CliIo, "isTerminal" | "env">): Paint {
  const hasColours = isTerminal === true && !env.NO_COLOR && env.TERM !== "dumb";
  return hasColours ? coloured : plain;
}

/** A moment relative to now, such as `3 minutes ago`; what is no moment, as it is. */
export function when(time: string): string {
  return Number.isNaN(Date.parse(time)) ? onOneLine(time) : ago(time);
}

/** `1 memory`, `12,000 memories`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/** Characters that take two columns of a terminal, and marks that take none. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]|\p{Emoji_Presentation}/u;
const NARROW = /^[\p{M}\u200c\u200d]$/u;

function columnsOf(character: string): number {
  if (character <= "\u02ff") return 1;
  return NARROW.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
}

/** How many columns a text on one line takes. */
function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += columnsOf(character);
  return width;
}

/** A text on one line, cut with `…` where it takes more columns. */
export function fitted(text: string, most: number): string {
  if (widthOf(text) <= most) return text;
  let end = 0;
  let left = Math.max(0, most - 1);
  for (const character of text) {
    left -= columnsOf(character);
    if (left < 0) break;
    end += character.length;
  }
  return `${text.slice(0, end).trimEnd()}…`;
}

/** A cell of a table: its text, and whether it is less important. */
export type Cell = string | { readonly dim: string };

/** Least columns that are left for the last cell of a line: a terminal is rarely narrower. */
const LEAST_COLUMNS = 16;

/**
 * Lines of cells on one line each, every column as wide as its widest cell.
 *
 * @param terminal Where it is shown: the last cell of a line is cut where a terminal ends.
 */
export function columns(
  rows: readonly (readonly Cell[])[],
  paint: Paint,
  { isTerminal, columns: most = Infinity }: Pick<CliIo, "isTerminal" | "columns"> = {},
): string {
  const textOf = (cell: Cell) => onOneLine(typeof cell === "string" ? cell : cell.dim);
  const widths = rows[0]?.map((_, i) =>
    rows.reduce((most, row) => Math.max(most, widthOf(textOf(row[i]!))), 0)
  );
  return rows.map((row) => {
    const last = row.findLastIndex((cell) => textOf(cell) !== "");
    let left = isTerminal ? most : Infinity;
    const cells = row.slice(0, last + 1).map((cell, i) => {
      const whole = textOf(cell);
      const text = i === last ? fitted(whole, Math.max(LEAST_COLUMNS, left)) : whole;
      const padding = i === last ? "" : " ".repeat((widths?.[i] ?? 0) - widthOf(text));
      left -= (widths?.[i] ?? 0) + 2;
      return (typeof cell === "string" ? text : paint.dim(text)) + padding;
    });
    return `${cells.join("  ")}\n`;
  }).join("");
}
