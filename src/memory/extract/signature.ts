import type { Language } from "./languages/language.ts";
import { sentences } from "./sentences.ts";

const NAME = /^\p{Lu}[\p{L}.'’-]{0,30}(?: \p{Lu}[\p{L}.'’-]{0,30}){0,3}$/u;
/** Lines at the end of a letter in which its closing and its name are looked for. */
const LAST_LINES = 2;

/** A letter without its end, and who signed it. */
interface Signed {
  readonly body: string;
  readonly name?: string;
}

function nameIn(text: string): string | undefined {
  const bare = text.replace(/^[\s,.!–-]{0,5}/, "").replace(/[.!]$/, "").trim();
  return NAME.test(bare) ? bare : undefined;
}

/** The name in `Best, Tamsin`. */
function closedBy(sentence: string, language: Language): string | undefined {
  const closing = language.closing.exec(sentence)?.[0];
  return closing === undefined ? undefined : nameIn(sentence.slice(closing.length));
}

/** Finds the name under a letter: in it, somebody says `I` whom a reader must know. */
export function signed(text: string, language: Language): Signed {
  const lines = text.trimEnd().split("\n");
  const filled = lines.flatMap((line, at) => line.trim() === "" ? [] : [at]).slice(-LAST_LINES);
  const [before, at] = filled.length < 2 ? [undefined, filled[0]] : filled;
  if (at === undefined) return { body: text };
  const last = lines[at] ?? "";
  const above = before === undefined ? "" : (lines[before] ?? "").trim();
  const found = sentences(last);
  const alone = found.length === 1 ? nameIn(last) : undefined;
  if (alone !== undefined && before !== undefined && language.closing.test(above)) {
    if (above.length > 40) return { body: text };
    return { body: lines.slice(0, before).join("\n"), name: alone };
  }
  const end = found.at(-1) ?? "";
  const name = closedBy(end, language) ??
    (language.closing.test(found.at(-2) ?? "") ? nameIn(end) : undefined);
  if (name === undefined) return { body: text };
  return { body: [...lines.slice(0, at), found.slice(0, -1).join(" ")].join("\n"), name };
}
