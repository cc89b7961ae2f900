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

/** A cell of a table: its text, and whether it is less important. */
export type Cell = string | { readonly dim: string };

/** Lines of cells on one line each, every column as wide as its widest cell. */
export function columns(rows: readonly (readonly Cell[])[], paint: Paint): string {
  const textOf = (cell: Cell) => onOneLine(typeof cell === "string" ? cell : cell.dim);
  const widths = rows[0]?.map((_, i) => Math.max(...rows.map((row) => textOf(row[i]!).length)));
  return rows.map((row) => {
    const last = row.findLastIndex((cell) => textOf(cell) !== "");
    const cells = row.slice(0, last + 1).map((cell, i) => {
      const text = textOf(cell);
      const padding = i === last ? "" : " ".repeat((widths?.[i] ?? 0) - text.length);
      return (typeof cell === "string" ? text : paint.dim(text)) + padding;
    });
    return `${cells.join("  ")}\n`;
  }).join("");
}
