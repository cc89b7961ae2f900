import type { Node } from "jsonc-parser";

/** How a JSON text is laid out. */
interface Layout {
  /** One step of indentation. */
  readonly unit: string;
  readonly eol: string;
}

/** The layout of a text, so that what is added looks like the rest. */
export function layoutOf(text: string): Layout {
  return {
    unit: /\n([ \t]+)\S/.exec(text)?.[1]?.replace(/^\t+$/, "\t") ?? "  ",
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  };
}

/** White space at the start of the line of an offset. */
const indentAt = (text: string, offset: number): string =>
  /(?:^|\n)([ \t]*)[^\n]*$/.exec(text.slice(0, offset))?.[1] ?? "";

const startsLine = (text: string, offset: number): boolean =>
  /(^|\n)[ \t]*$/.test(text.slice(0, offset));

/** A value as JSON over several lines; the first one continues a line that is indented so far. */
function render(value: unknown, indent: string, { unit, eol }: Layout): string {
  return JSON.stringify(value, null, unit).replaceAll("\n", eol + indent);
}

export function replaceValue(text: string, node: Node, value: unknown, layout: Layout): string {
  const rendered = render(value, indentAt(text, node.offset), layout);
  return text.slice(0, node.offset) + rendered + text.slice(node.offset + node.length);
}

const COMMENT = /\/\/[^\r\n]*|\/\*[^]*?\*\//;
const TRAIL = new RegExp(`^(?:[ \\t]*(?:,|${COMMENT.source}))*`);

/** What follows the last member on its line: whether there is a comma, and where comments end. */
function trailOf(text: string, end: number): { readonly comma: boolean; readonly end: number } {
  const trail = TRAIL.exec(text.slice(end))?.[0] ?? "";
  const comma = trail.replaceAll(new RegExp(COMMENT, "g"), "").includes(",");
  return { comma, end: end + trail.length };
}

/** Adds a member at the end of an object; every other character stays, but for a comma. */
export function addMember(
  text: string,
  object: Node,
  key: string,
  value: unknown,
  layout: Layout,
): string {
  const name = `${JSON.stringify(key)}: `;
  const [first] = object.children ?? [];
  const last = object.children?.at(-1);
  const outer = indentAt(text, object.offset);
  if (first === undefined || last === undefined) {
    const at = object.offset + 1;
    const indent = outer + layout.unit;
    const rest = text.slice(at);
    const closing = /^[ \t]*\}/.test(rest) ? layout.eol + outer : "";
    const member = name + render(value, indent, layout);
    return text.slice(0, at) + layout.eol + indent + member + closing +
      rest.replace(/^[ \t]+(?=\})/, "");
  }
  const end = last.offset + last.length;
  if (!startsLine(text, first.offset)) {
    return `${text.slice(0, end)}, ${name}${JSON.stringify(value)}${text.slice(end)}`;
  }
  const trail = trailOf(text, end);
  const indent = indentAt(text, first.offset);
  const member = layout.eol + indent + name + render(value, indent, layout);
  return text.slice(0, end) + (trail.comma ? "" : ",") + text.slice(end, trail.end) + member +
    (trail.comma ? "," : "") + text.slice(trail.end);
}
