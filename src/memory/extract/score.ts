import { ENGLISH } from "./languages/english.ts";
import type { Language } from "./languages/language.ts";

/** Importance of what may matter for years: health, identity, family, firm rules. */
export const HIGH = 0.9;
/** Importance of most facts. */
export const MEDIUM = 0.5;
/** Importance of what soon is over. */
export const LOW = 0.2;

/** Importance class of a sentence found by rules: 0.9, 0.5 or 0.2. */
export function importanceOf(sentence: string, language: Language): number {
  if (language.lasting.test(sentence)) return HIGH;
  return language.passing.test(sentence) ? LOW : MEDIUM;
}

/** Score from which a sentence is kept; set on the development texts. */
export const KEEP = 0.5;

/** The Greek question mark, which looks like a semicolon, and a semicolon ask nothing. */
const QUESTION_MARK = /[?？؟]["'”’»)\]]{0,3}\s?\p{Extended_Pictographic}?$/u;
/** Words up to which a sentence without a mark may be a question: chats leave the mark out. */
const UNMARKED_QUESTION_WORDS = 14;

/** Whether a sentence asks. */
export function asks(sentence: string, language: Language | undefined): boolean {
  if (QUESTION_MARK.test(sentence)) return true;
  return language !== undefined && !/[.!]$/.test(sentence) &&
    countWords(sentence) <= UNMARKED_QUESTION_WORDS && language.question.test(sentence);
}

/** Words as blanks part them. */
export function countWords(sentence: string): number {
  return sentence.split(/\s+/).length;
}

/** Words up to which a sentence without a verb is a heading, a reaction or an item of a list. */
const HEADING_WORDS = 4;
/** One or two words are a reaction, unless they say much. */
const REACTION_WORDS = 2;
/** `No raisins`: short, and says it all. */
const NOTHING_OF = /^(?:no|never|kein\w*|nie|nada|nunca|pas|jamais)\s/i;
const ONLY_NAMES = /^(?:\p{Lu}[\p{L}.'’-]*[ ,]{0,2}){1,3}[.!]?$/u;

/** Whether a sentence only lists things, as for shopping. */
function isList(sentence: string): boolean {
  const bySlash = sentence.split(/\s\/\s/);
  const items = bySlash.length >= 3 ? bySlash : sentence.split(/,\s/);
  const most = items === bySlash ? 4 : 2;
  return items.length >= 3 && !/\d|:/.test(sentence) &&
    items.every((item) => countWords(item.trim()) <= most);
}

/** How much a sentence looks like something worth keeping. */
export function score(sentence: string, language: Language): number {
  const length = countWords(sentence);
  const hasVerb = language.verb.test(sentence);
  const saysNoMore = NOTHING_OF.test(sentence);
  if (!hasVerb && isList(sentence)) return 0;
  let sum = language.base + Math.min(length, 20) / 40;
  for (const [pattern, weight] of language.cues) if (pattern.test(sentence)) sum += weight;
  if (!hasVerb && !saysNoMore && length <= 3 && ONLY_NAMES.test(sentence)) return Math.min(sum, 0);
  if (length <= REACTION_WORDS && !saysNoMore) sum -= 0.5;
  return !hasVerb && length <= HEADING_WORDS ? sum - 0.3 : sum;
}

/** Whether a sentence in a language without cues is kept: a statement of some length. */
function isStatement(sentence: string): boolean {
  if (sentence.endsWith("!")) return false;
  return countWords(sentence) >= 3 ||
    /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}]{5}/u.test(sentence);
}

/** Score of a statement; without cues for its language it is kept or not. */
export function worth(sentence: string, language: Language | "unclear" | "other"): number {
  if (typeof language !== "string") return score(sentence, language);
  const isKept = isStatement(sentence) && (language === "other" || sentence.endsWith("."));
  const value = isKept ? KEEP : -Infinity;
  return language === "other" ? value : Math.max(value, score(sentence, ENGLISH));
}
