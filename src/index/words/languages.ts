import { STOP_WORDS_OF } from "./stop_words.ts";

/** Languages that share their script with others, told by their words; English is none of them. */
export type Language = keyof typeof STOP_WORDS_OF;

/** In the order of their bits. */
export const LANGUAGES = Object.keys(STOP_WORDS_OF) as readonly Language[];

/** Bit of a language in a set of them. */
export function bitOf(language: Language): number {
  return 1 << LANGUAGES.indexOf(language);
}

/** More English words than are left out of an index: they tell English from other languages. */
const ENGLISH =
  "about after all also always am an and any are as at be because been before being " +
  "but by can could did do does doing don down each every few for from get gets go goes going got had " +
  "has have having he her here hers him his how i if in into is it its just like live lives make many " +
  "may me might more most much must my never no not now of off on once one only or other our out over " +
  "own same see shall she should since so some still such take than that the their them then there " +
  "these they this those through to too two under until up us use used very was way we were what when " +
  "where which while who whom whose why will with work works would you your yours " +
  "ale ante ate bin car care cat comes comment die dies dig dine dog door dove end era fare font fur " +
  "ham hat hay man mat men met mine min mint mode non pan per plus pour sale sans sea sin sit solo sole " +
  "son sous soy tan till tout vain van want war";
const ENGLISH_BIT = 1 << 30;

/** Letters that a language writes and English does not, where none of its neighbours does. */
const LETTERS: readonly (readonly [RegExp, readonly Language[]])[] = [
  [/[äöü]/, ["de", "sv", "fi", "hu", "tr"]],
  [/ß/, ["de"]],
  [/[åøæ]/, ["sv", "da", "no"]],
  [/[ñ¿¡]/, ["es"]],
  [/[ãõ]/, ["pt"]],
  [/[çêâîôûœ]/, ["fr", "pt", "ro", "tr"]],
  [/[áéíóú]/, ["es", "pt", "hu"]],
  [/[èàùéë]/, ["fr", "it"]],
  [/[ășțşţ]/, ["ro"]],
  [/[őű]/, ["hu"]],
  [/[ğış]/, ["tr"]],
  [/[іїєґ]/, ["uk"]],
  [/[ыэъё]/, ["ru"]],
];

/** Words that are looked at: the language of a text shows in its beginning. */
const TOLD_BY = 64;
/** Letters of a word that tells a language by itself. */
const LONG_ENOUGH = 4;
const BEYOND_ASCII = /[^\0-\x7f]/;

/** Languages of a word, as bits. */
let languagesOfWord: Map<string, number> | undefined;

function wordTable(): Map<string, number> {
  if (languagesOfWord !== undefined) return languagesOfWord;
  languagesOfWord = new Map();
  const add = (words: string, bit: number): void => {
    for (const word of words.split(" ")) {
      languagesOfWord!.set(word, (languagesOfWord!.get(word) ?? 0) | bit);
    }
  };
  for (const language of LANGUAGES) add(STOP_WORDS_OF[language], bitOf(language));
  add(ENGLISH, ENGLISH_BIT);
  return languagesOfWord;
}

/** Whether a folded word says nothing in a language. */
export function isStopWord(word: string, language: Language): boolean {
  return ((wordTable().get(word) ?? 0) & bitOf(language)) !== 0;
}

/** Whether a character is a letter or a mark, as far as commonest words need to be found. */
function isWritten(code: number): boolean {
  if (code < 0x80) return code >= 97 && code <= 122;
  return code >= 0xc0 && (code < 0x2000 || code > 0x206f) && (code < 0x3000 || code > 0x303f);
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

const APOSTROPHE = 39;
const POSSESSIVE = /^'s(?![a-z])/;
const VOWELS = new Set("aeiouyæøîàèéóаеиіоуюяєїыэηοω");

/** A word that tells of some languages. */
interface Telling {
  /** As bits. */
  readonly languages: number;
  /** A single letter may be part of a name. */
  readonly length: number;
}

/** The words of a folded text that tell of some languages. */
function tellingOf(plain: string): Telling[] {
  const found: Telling[] = [];
  const table = wordTable();
  let seen = 0;
  for (let at = 0; at < plain.length && seen < TOLD_BY; at++) {
    if (!isWritten(plain.charCodeAt(at))) continue;
    const start = at;
    while (isWritten(plain.charCodeAt(at))) at++;
    seen++;
    // Hexadecimal digits are no words, and neither is what English puts behind an apostrophe.
    if (isDigit(plain.charCodeAt(at)) || isDigit(plain.charCodeAt(start - 1))) continue;
    const isElided = plain.charCodeAt(at) === APOSTROPHE;
    const length = at - start;
    if (isElided && POSSESSIVE.test(plain.slice(at, at + 3))) {
      found.push({ languages: ENGLISH_BIT, length });
      continue;
    }
    if (length < 3 && plain.charCodeAt(start - 1) === APOSTROPHE) continue;
    const word = plain.slice(start, at);
    // A consonant is a word where the next one follows an apostrophe.
    if (length === 1 && !isElided && !VOWELS.has(word)) continue;
    const languages = table.get(word);
    if (languages !== undefined) found.push({ languages, length: at - start + Number(isElided) });
  }
  return found;
}

/**
 * The language of a text by its commonest words and its letters; `undefined` for English, for scripts
 * of one language, and where a text is too short to tell.
 *
 * @param plain The text after `folded`.
 * @param written The text in lower case with its accents.
 */
export function languageOf(plain: string, written: string): Language | undefined {
  const told = tellingOf(plain);
  const english = told.filter(({ languages }) => (languages & ENGLISH_BIT) !== 0).length;
  // No other language has more of these words.
  if (english === told.length) return undefined;
  const counts = new Float64Array(LANGUAGES.length);
  const hits = new Uint8Array(LANGUAGES.length);
  for (const { languages, length } of told) {
    let sharing = 0;
    for (let rest = languages; rest !== 0; rest &= rest - 1) sharing++;
    for (let i = 0; i < LANGUAGES.length; i++) {
      if ((languages & (1 << i)) === 0) continue;
      if (length > 1) hits[i]!++;
      counts[i]! += 1 / sharing;
    }
  }
  const isAscii = !BEYOND_ASCII.test(written);
  for (const [letters, languages] of isAscii ? [] : LETTERS) {
    if (!letters.test(written)) continue;
    for (const language of languages) counts[LANGUAGES.indexOf(language)]! += 1 / languages.length;
  }
  let best = 0;
  for (let i = 1; i < counts.length; i++) if (counts[i]! > counts[best]!) best = i;
  if (hits[best]! <= english) return undefined;
  const isSure = hits[best]! > 1 || !isAscii || told.some(({ length }) => length >= LONG_ENOUGH);
  return isSure ? LANGUAGES[best] : undefined;
}

/** Scripts, and the language that most texts in them are in; `und` where there are several. */
const SCRIPTS: readonly (readonly [RegExp, string])[] = [
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/gu, "ja"],
  [/\p{Script=Hangul}/gu, "ko"],
  [/\p{Script=Han}/gu, "zh"],
  [/\p{Script=Arabic}/gu, "ar"],
  [/\p{Script=Hebrew}/gu, "he"],
  [/\p{Script=Devanagari}/gu, "hi"],
  [/\p{Script=Thai}/gu, "th"],
  [/\p{Script=Greek}/gu, "el"],
];
const LETTER = /\p{L}/gu;
const LATIN = /\p{Script=Latin}/gu;

/** Characters that are looked at for the script. */
const SCRIPT_CHARACTERS = 400;

/**
 * The language of a text by its script, where most letters are not Latin ones: a code of ISO 639, or
 * `und` where the script does not tell; `undefined` for a text in Latin letters.
 *
 * @param plain The text after `folded`.
 */
export function languageOfScript(plain: string): string | undefined {
  if (!BEYOND_ASCII.test(plain)) return undefined;
  const beginning = plain.slice(0, SCRIPT_CHARACTERS);
  const count = (letters: RegExp): number => beginning.match(letters)?.length ?? 0;
  const foreign = count(LETTER) - count(LATIN);
  // A letter of most of these scripts says more than a Latin one.
  if (foreign === 0 || foreign < count(LATIN)) return undefined;
  const japanese = count(SCRIPTS[0]![0]);
  if (japanese > 0 && japanese + count(SCRIPTS[2]![0]) >= foreign / 2) return "ja";
  return SCRIPTS.find(([letters]) => count(letters) > foreign / 2)?.[1] ?? "und";
}
