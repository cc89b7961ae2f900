import { formatted } from "./markdown.ts";
import { BLOCKS } from "./blocks.ts";

const PARTS = new URL("../protocol/", import.meta.url);

/** A rule begins a list item with its id. */
const RULE = /^- \*\*(\d+(?:\.\d+)?-\d+)\*\* ((?:.+\n?)+?)(?=- |\n|$(?![\s\S]))/gm;
/** Ends the text of a rule that no test shows, and says why. */
const OPEN = / _(?:Not built|Not tested): (.*)\._$/;
const HEADING = /^(##+) (\d+(?:\.\d+)?) (.*)$/gm;

const INTRODUCTION = `# Protocol

This page is the contract between a relayer and its clients: what crosses the wire, over HTTP, over
MCP and over standard input and output. It is enough to write a client, or a second relayer. "Must",
"may" and "never" are meant literally.

Each rule has a number, which never changes its meaning and is never used for another rule. Tests
name the rules they show, and a rule without a test says why. Link to a section as
\`protocol.md#4.3\` and to a rule as \`protocol.md#4.3-6\`.

The page is made by \`deno task docs\` from the texts in \`docs/protocol/\` and from the source; change
it there. A rule changes together with its test and with what it rules.`;

/** One rule of the protocol. */
export interface Rule {
  /** Section and number, such as `4.3-6`; never used for another rule. */
  readonly id: string;
  /** What it says, on one line. */
  readonly text: string;
  /** Why no test shows it; absent when one must. */
  readonly open?: string;
}

/** The texts of the sections, in their order. */
async function parts(): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(PARTS)) names.push(name);
  return await Promise.all(names.sort().map((name) => Deno.readTextFile(new URL(name, PARTS))));
}

/** Every rule, in the order of the page. */
export async function protocolRules(): Promise<readonly Rule[]> {
  const rules: Rule[] = [];
  for (const part of await parts()) {
    for (const [, id = "", lines = ""] of part.matchAll(RULE)) {
      const text = lines.trim().replace(/\s+/g, " ");
      const open = OPEN.exec(text)?.[1];
      rules.push({ id, text: text.replace(OPEN, ""), ...(open === undefined ? {} : { open }) });
    }
  }
  return rules;
}

/** Puts an anchor before each heading and rule, and what is generated into its place. */
function rendered(part: string): string {
  return part
    .replace(HEADING, (line, _level, id) => `<a id="${id}"></a>\n\n${line}`)
    .replace(/^- \*\*([\d.]+-\d+)\*\*/gm, (_, id) => `- <a id="${id}"></a>**${id}**`)
    .replace(/^<!-- generated: (.*) -->$/gm, (_, name) => {
      const [block = "", ...words] = name.split(" ");
      const render = BLOCKS[block];
      if (render === undefined) throw new Error(`Nothing is generated for "${name}"`);
      return render(words.join(" "));
    });
}

/** The page, docs/protocol.md. */
export async function protocolMarkdown(): Promise<string> {
  const sections = await parts();
  const contents = sections.map((part) => {
    const [, , id, title] = [...part.matchAll(HEADING)][0] ?? [];
    return `[${id} ${title}](#${id})`;
  });
  return await formatted(
    [INTRODUCTION, contents.join(" · "), ...sections.map(rendered)].join("\n\n"),
  );
}
