import { foreignLanguage } from "../index/words/words.ts";
import type { Embedder } from "../interfaces/mod.ts";

/** Characters that tell the language of a text. */
const TOLD_BY = 2_000;

/**
 * The language of a text that the embedder does not read: a code of ISO 639, or `und` where only the
 * script is known; `undefined` where it reads the text, or nobody can tell.
 */
export function unreadLanguage(
  { languages }: Pick<Embedder, "languages">,
  text: string,
): string | undefined {
  if (languages === undefined) return undefined;
  const language = foreignLanguage(text.slice(0, TOLD_BY));
  return language === undefined || languages.includes(language) ? undefined : language;
}
