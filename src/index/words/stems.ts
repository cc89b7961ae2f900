// Stemmers of the Snowball project, bundled by `deno task stemmers`.
import * as stemmers from "./stemmers.js";
import type { Language } from "./languages.ts";

const { hi: hindi, ...others } = stemmers;

/** Stemmers by language; they read words with their accents. */
export const STEMMERS: Readonly<Record<Language, (word: string) => string>> = others;

/** Words of these scripts are stemmed whatever the rest of the text is. */
const ARABIC = /^\p{Script=Arabic}/u;
const HEBREW = /^\p{Script=Hebrew}/u;
const DEVANAGARI = /^\p{Script=Devanagari}/u;

/** The first character of these scripts. */
const FIRST = 0x0590;

/**
 * The stem of a folded word whose script tells how to find it; `undefined` for a word of another
 * script.
 */
export function stemByScript(word: string): string | undefined {
  if (word.charCodeAt(0) < FIRST) return undefined;
  if (ARABIC.test(word)) return arabicStem(word);
  if (HEBREW.test(word)) return hebrewStem(word);
  if (DEVANAGARI.test(word)) return hindi(word);
  return undefined;
}

const ARABIC_PREFIX = /^(?:و|ف)?(?:وال|بال|كال|فال|ال|لل)(?=.{2})|^[وف](?=.{3})/u;
const ARABIC_PREPOSITION = /^[بلك](?=.{4})/u;
const ARABIC_SUFFIXES = [
  /(?<=.{2})(?:هما|كما|هم|هن|كم|ها|نا|ات|ان|ين|ون|يه|ية)$/u,
  /(?<=.{3})[هيكت]$/u,
] as const;

/**
 * A word without its article, "and" and prepositions in front, and without endings of number, gender
 * and possession (as "light10", Larkey, Ballesteros and Connell, 2007).
 */
function arabicStem(word: string): string {
  let stem = word.replace(ARABIC_PREFIX, "");
  if (stem === word) stem = word.replace(ARABIC_PREPOSITION, "");
  for (const suffix of ARABIC_SUFFIXES) stem = stem.replace(suffix, "");
  // A feminine ending becomes another letter in front of a possessive.
  return stem.replace(/(?<=.{3})[ته]$/u, "");
}

const HEBREW_PREFIX = /^(?:[ושכ]?[בלמהכש])(?=.{3})|^[ו](?=.{3})/u;
const HEBREW_SUFFIX = /(?<=.{2})(?:ים|ות|ית|יה|תי|נו|הם)$|(?<=.{3})[הת]$/u;

/** A word without the letters that stand for "and", "the" and prepositions, and without endings. */
function hebrewStem(word: string): string {
  return word.replace(HEBREW_PREFIX, "").replace(HEBREW_SUFFIX, "");
}
