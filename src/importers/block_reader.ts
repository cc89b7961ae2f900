/** A part of a text in Markdown that says one thing. */
export interface Block {
  /** A heading is one that nothing stands below. */
  readonly kind: "paragraph" | "bullet" | "comment" | "heading";
  /** Without the bullet, and without what the lines of a bullet are indented by. */
  readonly text: string;
  /** Of its first line, from 0. */
  readonly line: number;
  /** From the outermost to the innermost. */
  readonly headings: readonly string[];
}

/** What differs between the kinds of files. */
interface ReaderOptions {
  readonly boldHeadings?: boolean;
  readonly goesOn?: (line: string) => boolean;
}

interface Heading {
  readonly level: number;
  readonly text: string;
  readonly line: number;
  isUsed: boolean;
}

interface OpenBlock {
  readonly kind: "paragraph" | "bullet" | "comment";
  readonly line: number;
  readonly lines: string[];
  /** Column of the bullet, and of its text. */
  readonly column: number;
  readonly textColumn: number;
  /** Empty lines since the last that was read. */
  blanks: number;
  /** Whether a code block has just ended, after which a new paragraph starts. */
  isBroken: boolean;
}

const BULLET = /^([ \t]*)([-*+]|\d{1,9}[.)])(?:[ \t](.*))?$/s;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t](.*))?$/s;
const FENCE = /^[ \t]*(`{3,}|~{3,})(.*)$/s;
/** Level of a heading in bold type: below all others. */
const BOLD_LEVEL = 7;
/** A longer line is no heading: every memory below would carry it. */
const HEADING_UNITS = 200;

/** How far a line is indented; a tab counts as four. */
function columnOf(line: string): number {
  let column = 0;
  for (const letter of line) {
    if (letter === " ") column++;
    else if (letter === "\t") column += 4;
    else break;
  }
  return column;
}

/** A line without its first columns, as far as they are empty. */
function dedented(line: string, columns: number): string {
  let at = 0;
  for (let column = 0; column < columns && at < line.length; at++) {
    if (line[at] === " ") column++;
    else if (line[at] === "\t") column += 4;
    else break;
  }
  return line.slice(at);
}

/** Whether a line is drawn across the page. */
function isRule(line: string): boolean {
  const marks = line.replaceAll(/[ \t]/g, "");
  return marks.length > 2 && /^(?:-+|\*+|_+)$/.test(marks);
}

/** Text of a heading without what may close it. */
function headingText(text: string): string {
  const trimmed = text.trim();
  let end = trimmed.length;
  while (trimmed[end - 1] === "#") end--;
  return end === 0 || /[ \t]/.test(trimmed[end - 1] ?? "") ? trimmed.slice(0, end).trim() : trimmed;
}

function boldText(line: string): string | undefined {
  const text = line.trim().replace(/:$/, "");
  const inner = text.slice(2, -2).replace(/:$/, "");
  const isBold = text.length > 4 && text.startsWith("**") && text.endsWith("**");
  return isBold && !inner.includes("**") ? inner : undefined;
}

/** Takes a text apart, line by line. */
export class BlockReader {
  readonly #options: ReaderOptions;
  /** Last line that ends a comment: one that never ends is none. */
  readonly #lastCommentEnd: number;
  readonly #blocks: Block[] = [];
  readonly #headings: Heading[] = [];
  #open: OpenBlock | undefined;
  /** Marks that end the code block that is open. */
  #fence = "";

  constructor(lines: readonly string[], options: ReaderOptions) {
    this.#options = options;
    this.#lastCommentEnd = lines.findLastIndex((line) => line.includes("-->"));
  }

  /** Reads the next line, whose number is from 0. */
  read(line: string, at: number): void {
    if (this.#fence !== "") return this.#readCode(line);
    const open = this.#open;
    if (open?.kind === "comment") return this.#readComment(open, line);
    if (line.trim() === "") {
      if (open !== undefined) open.blanks++;
      return;
    }
    const [, fence = "", info = ""] = FENCE.exec(line) ?? [];
    if (fence !== "" && !(fence.startsWith("`") && info.includes("`"))) {
      this.#fence = fence;
      return open === undefined ? this.#start("paragraph", line, at) : this.#append(open, line);
    }
    const isNew = open === undefined || open.blanks > 0 || open.isBroken;
    if (this.#readHeading(line, at, isNew)) return;
    if (line.trimStart().startsWith("<!--") && this.#startsComment(line, at)) return;
    const bullet = BULLET.exec(line);
    if (bullet !== null) return this.#readBullet(bullet, line, at);
    if (open !== undefined && (!isNew || this.#belongs(open, line))) this.#append(open, line);
    else this.#start("paragraph", line, at);
  }

  /** Ends the text. */
  end(): readonly Block[] {
    this.#close();
    this.#leaveHeadings(0);
    return this.#blocks;
  }

  /** Whether a line after an empty one still belongs to what is open. */
  #belongs(open: OpenBlock, line: string): boolean {
    const column = columnOf(line);
    if (open.kind === "bullet") return column >= open.column + 2;
    return column >= 4 || this.#options.goesOn?.(line) === true;
  }

  #readCode(line: string): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#append(open, line);
    const marks = line.trim();
    const isEnd = marks.length >= this.#fence.length && marks.startsWith(this.#fence) &&
      marks.replaceAll(this.#fence.charAt(0), "") === "";
    if (!isEnd) return;
    this.#fence = "";
    open.isBroken = true;
  }

  #readComment(open: OpenBlock, line: string): void {
    open.lines.push(line);
    if (line.includes("-->")) this.#close();
  }

  /** Starts a comment, unless it never ends, or something stands behind it in the same line. */
  #startsComment(line: string, at: number): boolean {
    const end = line.indexOf("-->");
    if (at > this.#lastCommentEnd || (end >= 0 && line.slice(end + 3).trim() !== "")) return false;
    this.#start("comment", line, at);
    if (end >= 0) this.#close();
    return true;
  }

  #readHeading(line: string, at: number, isNew: boolean): boolean {
    const [, marks, text = ""] = HEADING.exec(line) ?? [];
    const isShort = line.length <= HEADING_UNITS;
    if (marks !== undefined && isShort) {
      return this.#enterHeading(marks.length, headingText(text), at);
    }
    const open = this.#open;
    if (!isNew && open?.kind === "paragraph" && open.lines.length === 1) {
      const level = /^=+[ \t]*$/.test(line) ? 1 : /^-{3,}[ \t]*$/.test(line) ? 2 : 0;
      const [title = ""] = open.lines;
      if (level > 0 && title.length <= HEADING_UNITS) {
        this.#open = undefined;
        return this.#enterHeading(level, title.trim(), open.line);
      }
    }
    if (isRule(line)) {
      this.#close();
      return true;
    }
    const bold = this.#options.boldHeadings && isNew && isShort ? boldText(line) : undefined;
    return bold === undefined ? false : this.#enterHeading(BOLD_LEVEL, bold, at);
  }

  #enterHeading(level: number, text: string, line: number): true {
    this.#close();
    this.#leaveHeadings(level);
    this.#headings.push({ level, text, line, isUsed: false });
    return true;
  }

  /** Leaves the headings of this level and below. */
  #leaveHeadings(level: number): void {
    for (let last = this.#headings.at(-1); last !== undefined && last.level >= level;) {
      this.#headings.pop();
      if (!last.isUsed) {
        const kind = last.level === BOLD_LEVEL ? "paragraph" : "heading";
        this.#add(kind, last.text, last.line);
      }
      last = this.#headings.at(-1);
    }
  }

  #readBullet(bullet: RegExpExecArray, line: string, at: number): void {
    const open = this.#open;
    const column = columnOf(line);
    if (open?.kind === "bullet" && column >= open.column + 2) return this.#append(open, line);
    const [, , mark = "", text = ""] = bullet;
    this.#start("bullet", text, at, { column, textColumn: column + mark.length + 1 });
    this.#fence = FENCE.exec(text)?.[1] ?? "";
  }

  #append(open: OpenBlock, line: string): void {
    for (; open.blanks > 0; open.blanks--) open.lines.push("");
    open.isBroken = false;
    open.lines.push(dedented(line, open.textColumn));
  }

  #start(
    kind: OpenBlock["kind"],
    line: string,
    at: number,
    columns = { column: 0, textColumn: 0 },
  ): void {
    this.#close();
    this.#open = { kind, line: at, lines: [line], ...columns, blanks: 0, isBroken: false };
  }

  #close(): void {
    const open = this.#open;
    this.#open = undefined;
    if (open !== undefined) this.#add(open.kind, open.lines.join("\n").trim(), open.line);
  }

  #add(kind: Block["kind"], text: string, line: number): void {
    const isText = kind === "paragraph" || kind === "bullet";
    for (const heading of this.#headings) if (isText) heading.isUsed = true;
    const headings = this.#headings.map((heading) => heading.text).filter((name) => name !== "");
    this.#blocks.push({ kind, text, line, headings });
  }
}
