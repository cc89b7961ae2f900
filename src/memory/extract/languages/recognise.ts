import { ENGLISH } from "./english.ts";
import { FRENCH } from "./french.ts";
import { GERMAN } from "./german.ts";
import { type Language, wordSet } from "./language.ts";
import { SPANISH } from "./spanish.ts";

/** Small words of languages without cues, so that they are not taken for a neighbour. */
const WITHOUT_CUES = [
  // Dutch, Swedish and Danish, Italian, Portuguese, Polish.
  "de het een en van ik niet zijn voor met ook maar wij hij mijn naar bij heeft op dat",
  "och jag är inte det en ett att som på av för med har jeg ikke og er til den hun han min vi",
  "il lo la che di e è non per con una sono mi del della ho ha mia mio gli le anche alle dal",
  "o a os as um uma e é não de do da em no na para com meu minha eu ele ela que tem são muito",
  "i w na nie jest się z do to mam mój moja jak od po za czy są ma we",
].map(wordSet);

/** The languages with cues; of two that fit equally well the later one is meant. */
const LANGUAGES: readonly Language[] = [FRENCH, SPANISH, GERMAN, ENGLISH];

/** Share of small words from which a text is in a language. */
const ENOUGH = 0.15;
/** A text of fewer words may be a note that leaves the small ones out. */
const NOTE_WORDS = 25;
const WORD = /\p{L}+(?:['’]\p{L}+)?/gu;

/**
 * The language of a text; `unclear` where it may be a note in plain Latin letters without small
 * words, `other` where the rules know nothing of it.
 */
export function languageOf(text: string): Language | "unclear" | "other" {
  const found = (text.toLowerCase().match(WORD) ?? []).map((word) => word.replace("’", "'"));
  const count = (small: ReadonlySet<string>, contracted?: RegExp) =>
    found.filter((word) => small.has(word) || contracted?.test(word)).length;
  let best: Language | "other" = "other";
  let most = Math.max(...WITHOUT_CUES.map((small) => count(small)));
  for (const language of LANGUAGES) {
    const own = count(language.smallWords, language.contracted);
    if (own >= most) [best, most] = [language, own];
  }
  if (most > 0 && most >= ENOUGH * found.length) return best;
  const isPlain = found.every((word) => /^[a-z']+$/.test(word));
  return isPlain && found.length < NOTE_WORDS ? "unclear" : "other";
}
