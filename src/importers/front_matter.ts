/** A value of front matter: a text, or a list of texts. */
export type FrontValue = string | readonly string[];

/** What stands between two lines of `---` at the start of a file. */
export interface FrontMatter {
  /** By name; a member of a member is `outer.inner`. */
  readonly values: ReadonlyMap<string, FrontValue>;
  /** Names whose value is none of the kinds that are read, and is kept as the text that it is. */
  readonly odd: readonly string[];
  /** Everything after the closing line, byte for byte. */
  readonly body: string;
  /** Number of the body's first line, from 1. */
  readonly bodyLine: number;
}

const KEY = /^([A-Za-z_][\w.-]*):(?:[ \t]+(.*))?$/s;
const ITEM = /^[ \t]*-(?:[ \t]+(.*))?$/s;

/** A text without the mark that some programs put at its start. */
export function withoutMark(content: string): string {
  return content.startsWith("\ufeff") ? content.slice(1) : content;
}

/** A value in quotes, or a plain one; `undefined` when it is neither. */
function scalarOf(text: string): string | undefined {
  if (text.startsWith('"')) {
    try {
      const value: unknown = JSON.parse(text);
      return typeof value === "string" ? value : undefined;
    } catch {
      return undefined;
    }
  }
  if (text.startsWith("'")) {
    const inner = text.slice(1, -1);
    const isWhole = text.length > 1 && text.endsWith("'") &&
      !inner.replaceAll("''", "").includes("'");
    return isWhole ? inner.replaceAll("''", "'") : undefined;
  }
  return /^[[{|>&*!%@`]/.test(text) ? undefined : text;
}

/** Items of `[a, "b, c"]`; `undefined` when it is no such list of scalars. */
function inlineList(text: string): readonly string[] | undefined {
  if (!text.startsWith("[") || !text.endsWith("]")) return undefined;
  const items: string[] = [];
  let start = 1;
  let quote = "";
  for (let at = 1; at < text.length; at++) {
    const letter = text[at] ?? "";
    const isLast = at === text.length - 1;
    if (quote !== "") {
      if (letter === "\\" && quote === '"') at++;
      else if (letter === quote) quote = "";
    } else if ((letter === '"' || letter === "'") && text.slice(start, at).trim() === "") {
      quote = letter;
    }
    if (quote !== "" || (letter !== "," && !isLast)) continue;
    const item = text.slice(start, at).trim();
    start = at + 1;
    // What follows the last comma may be nothing.
    if (item === "" && isLast) break;
    const value = scalarOf(item);
    if (value === undefined || item === "") return undefined;
    items.push(value);
  }
  return quote === "" ? items : undefined;
}

function dashList(lines: readonly string[]): readonly string[] | undefined {
  const items = lines.map((line) => {
    const item = ITEM.exec(line)?.[1]?.trim();
    return item === undefined || item === "" || KEY.test(item) ? undefined : scalarOf(item);
  });
  return items.every((item) => item !== undefined) ? items : undefined;
}

function innerMembers(
  lines: readonly string[],
): readonly (readonly [string, string])[] | undefined {
  const members = lines.map((line) => {
    const [, name, text = ""] = KEY.exec(line.trim()) ?? [];
    const value = scalarOf(text.trim());
    return name === undefined || value === undefined ? undefined : [name, value] as const;
  });
  return members.every((member) => member !== undefined) ? members : undefined;
}

/** Reads the lines of one member into the values. */
function readMember(
  values: Map<string, FrontValue>,
  odd: string[],
  lines: readonly string[],
): void {
  const [head = "", ...rest] = lines;
  const [, name = "", first = ""] = KEY.exec(head) ?? [];
  const value = first.trim();
  const more = rest.filter((line) => line.trim() !== "");
  const inner = value === "" && more.length > 0 ? innerMembers(more) : undefined;
  if (inner !== undefined) {
    for (const [key, text] of inner) values.set(`${name}.${key}`, text);
    return;
  }
  const list = value === "" && more.length > 0 ? dashList(more) : undefined;
  // A long value goes on in lines that are indented.
  const goesOn = value !== "" && more.every((line) => /^[ \t]/.test(line));
  const whole = [value, ...more.map((line) => line.trim())].join(" ");
  const isPlain = goesOn || more.length === 0;
  const read = list ?? (isPlain ? inlineList(whole) ?? scalarOf(whole) : undefined);
  if (read === undefined || values.has(name)) odd.push(name);
  values.set(name, read ?? [value, ...rest].join("\n").trim());
}

/** Positions of a line: where it starts, where its text ends, and where the next one starts. */
function lineAt(content: string, start: number): { readonly text: string; readonly next: number } {
  const end = content.indexOf("\n", start);
  const text = end < 0 ? content.slice(start) : content.slice(start, end);
  return { text: text.replace(/\r$/, ""), next: end < 0 ? content.length : end + 1 };
}

/**
 * Reads the front matter of a file: `name: value` with plain or quoted values, lists in brackets or
 * of lines with dashes, and members of a member. Anything else of YAML is kept as text.
 *
 * @returns `undefined` when the file does not start with any.
 */
export function frontMatterOf(content: string): FrontMatter | undefined {
  const text = withoutMark(content);
  const opening = lineAt(text, 0);
  if (opening.text.trimEnd() !== "---" || opening.text.startsWith(" ")) return undefined;
  const members: string[][] = [];
  let bodyLine = 2;
  for (let at = opening.next; at < text.length; bodyLine++) {
    const line = lineAt(text, at);
    at = line.next;
    if (/^(?:---|\.\.\.)[ \t]*$/.test(line.text)) {
      const values = new Map<string, FrontValue>();
      const odd: string[] = [];
      for (const member of members) readMember(values, odd, member);
      return { values, odd, body: text.slice(at), bodyLine: bodyLine + 1 };
    }
    if (line.text.startsWith("#")) continue;
    if (KEY.test(line.text)) members.push([line.text]);
    else if (members.length > 0) members.at(-1)?.push(line.text);
    // A text that starts with a rule is no front matter.
    else if (line.text.trim() !== "") return undefined;
  }
  return undefined;
}

/** A value of front matter as one text. */
export function frontText(front: FrontMatter | undefined, name: string): string | undefined {
  const value = front?.values.get(name);
  return value === undefined || typeof value === "string" ? value : value.join(", ");
}
