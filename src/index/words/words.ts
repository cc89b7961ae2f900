import { stem } from "porter2";
import { isCompounding, partsOf } from "./compounds.ts";
import { isStopWord, type Language, languageOf, languageOfScript } from "./languages.ts";
import { stemByScript, STEMMERS } from "./stems.ts";
import { STOP_WORDS_OF_SCRIPTS } from "./stop_words.ts";

/** Scripts of Chinese and Japanese: a character is a syllable or a word. */
const SYLLABIC = "[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}]";
/** Korean has spaces, but a word comes with particles and endings of many forms behind it. */
const HANGUL = "\\p{scx=Hang}";
/**
 * Thai, Lao, Khmer, Burmese: most syllables take several characters. The apostrophe U+02BC is shared
 * with them, and is a letter of Ukrainian and others.
 */
const ALPHABETIC = "[[\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}]--[\\u02bc]]";
const CHARACTER = "[\\p{L}\\p{N}]";

/** Expression for a character of words that are told apart by spaces; needs the flag `v`. */
const SPACED = `[${CHARACTER}--${SYLLABIC}--${HANGUL}--${ALPHABETIC}]`;
/** Expression for a run of characters that n-grams are made of; needs the flag `v`. */
const UNSPACED_RUN = [SYLLABIC, HANGUL, ALPHABETIC]
  .map((script) => `[${CHARACTER}&&${script}]`)
  .map((character) => `${character}[${character}\\p{M}]*`).join("|");

/** The first character of these scripts: most words need no expression to be told from runs. */
const FIRST_UNSPACED = 0x0e01;
const UNSPACED = new RegExp(`^[${SYLLABIC}${HANGUL}${ALPHABETIC}]`, "v");
const IS_SYLLABIC = new RegExp(`^[${SYLLABIC}${HANGUL}]`, "v");
/** Vowels and tones above and below a letter are no characters of their own. */
const WITH_MARKS = /\P{M}\p{M}*/gu;

/** Characters of an n-gram: two letters of an alphabet would be found in most texts. */
const BIGRAM = 2;
const TRIGRAM = 3;

/** Whether a word is such a run. */
function isUnspaced(word: string): boolean {
  return word.charCodeAt(0) >= FIRST_UNSPACED && UNSPACED.test(word);
}

/**
 * What stands for the words of such a run: its overlapping bigrams, of an alphabet trigrams; the run
 * itself where it is no longer than that.
 */
function ngrams(run: string): string[] {
  const characters = charactersOf(run);
  return ngramsOf(characters, Math.min(lengthIn(run), characters.length));
}

/** The n-grams of such a run that are shorter than those. */
function shorterNgrams(run: string): string[] {
  const characters = charactersOf(run);
  const found: string[] = [];
  for (let n = Math.min(lengthIn(run), characters.length) - 1; n > 0; n--) {
    for (const ngram of ngramsOf(characters, n)) found.push(ngram);
  }
  return found;
}

function charactersOf(run: string): readonly string[] {
  return run.match(WITH_MARKS) ?? [];
}

function lengthIn(run: string): number {
  return IS_SYLLABIC.test(run) ? BIGRAM : TRIGRAM;
}

function ngramsOf(characters: readonly string[], n: number): string[] {
  const found: string[] = [];
  for (let end = n; end <= characters.length; end++) {
    let ngram = "";
    for (let i = end - n; i < end; i++) ngram += characters[i]!;
    found.push(ngram);
  }
  return found;
}

/** English words that say nothing about a memory. */
const STOP_WORDS = new Set(
  ("a about am an and are as at be been being but by can could did do does doing for from had has " +
    "have he her hers him his how i if in into is it its itself may me might must my myself no not " +
    "of on or our ours shall she should so such than that the their theirs them then there these " +
    "they this those to too us was we were what when where which who whom why will with would you " +
    "your yours").split(" "),
);

/** Words that say nothing, of scripts of one language, and the first character of these. */
const SCRIPT_STOP_WORDS = new Set(STOP_WORDS_OF_SCRIPTS.flatMap((list) => list.split(" ")));
const FIRST_FOREIGN = 0x0590;

/** Longer words need not be looked up. */
const LONGEST_STOP_WORD = Math.max(...[...STOP_WORDS].map((word) => word.length));

/**
 * Runs of more than 30 combining marks, which no language has, and which take quadratic time to
 * normalise (UAX #15, "Stream-Safe Text Format").
 */
const LONG_MARKS = /(\p{M}{30})\p{M}+/gu;
const BEYOND_ASCII = /[\u0080-\uffff]/;
/** One without its skin tone, or a flag; `©` and `®` stand in names. */
const EMOJI = "[\\p{Extended_Pictographic}--[©®]]|\\p{RI}{2}";
const WORD = new RegExp(`${SPACED}[${SPACED}\\p{M}]*(?:'[a-z]+)?|${UNSPACED_RUN}|${EMOJI}`, "gv");
/** Words of languages in which an apostrophe stands between two of them. */
const PLAIN_WORD = new RegExp(`${SPACED}[${SPACED}\\p{M}]*|${UNSPACED_RUN}|${EMOJI}`, "gv");
const UNSPACED_RUNS = new RegExp(UNSPACED_RUN, "gv");

/** Whether a text has ASCII characters only: then simpler expressions do. */
export function isAscii(text: string): boolean {
  return !BEYOND_ASCII.test(text);
}

/**
 * Vowel signs of Arabic and Hebrew, hamzas, the line that fills up Arabic words, and dots below
 * letters of Devanagari: people write them or do not.
 */
const OPTIONAL_MARKS = /[\u0591-\u05c7\u0640\u064b-\u065f\u0670\u093c]/g;
/** Other forms of alef, the final form of yeh, and teh marbuta. */
const ARABIC_FORMS = /[\u0671\u0649\u0629]/g;
const PLAIN_FORMS: ReadonlyMap<string, string> = new Map([
  ["\u0671", "\u0627"],
  ["\u0649", "\u064a"],
  ["\u0629", "\u0647"],
]);
const HAS_OPTIONAL = /[\u0590-\u06ff\u0900-\u097f]/;

/** A text in normalization form KC, its runs of combining marks cut off at 30. */
export function compatible(text: string): string {
  return isAscii(text) ? text : text.replaceAll(LONG_MARKS, "$1").normalize("NFKC");
}

/**
 * A text as it is compared: lower case, compatibility forms and typographic apostrophes made plain,
 * Latin letters without their accents.
 */
export function folded(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  return withoutAccents(lower(text));
}

/** A text in lower case and with its accents, compatibility forms and apostrophes made plain. */
function lower(text: string): string {
  return compatible(text).toLowerCase().replaceAll("\u2019", "'");
}

/** A text in lower case without accents and without what is optional in a script. */
function withoutAccents(text: string): string {
  if (isAscii(text)) return text;
  const parts = text.replaceAll("ß", "ss").normalize("NFD").replaceAll(/([a-z])\p{M}+/gu, "$1");
  if (!HAS_OPTIONAL.test(parts)) return parts.normalize("NFC");
  return parts.replaceAll(OPTIONAL_MARKS, "")
    .replaceAll(ARABIC_FORMS, (form) => PLAIN_FORMS.get(form)!).normalize("NFC");
}

/** Whether a character code is a lower-case English letter. */
function isLetter(code: number): boolean {
  return code >= 97 && code <= 122;
}

/** Whether a character code is a lower-case English letter or a digit. */
export function isEnglish(code: number): boolean {
  return isLetter(code) || (code >= 48 && code <= 57);
}

/** What a text is indexed by. */
export interface AnalysedText {
  /** The text after {@linkcode folded}. */
  readonly plain: string;
  /** Its language; absent where it is English, of a script of one language, or not known. */
  readonly language: Language | undefined;
  /** Its words in their order, stemmed by its language, without those that say nothing. */
  readonly words: readonly string[];
  /** Parts of its compounds. */
  readonly parts: readonly string[];
}

/** A word of a query. */
export interface QueryWord {
  readonly stem: string;
  /** The whole word, folded; absent for n-grams, which no language stems. */
  readonly plain?: string;
  /** The same with its accents, where they are known. */
  readonly written?: string;
}

/** Takes the stem of a word, the word itself, folded, and with its accents; of an n-gram that alone. */
type Take = (stem: string, plain?: string, written?: string) => void;

/** Analyses a text by its language. */
export function analysed(text: string): AnalysedText {
  const { plain, written, language } = read(text);
  if (language === undefined) return { plain, language, words: words(plain), parts: [] };
  const found: string[] = [];
  const parts: string[] = [];
  eachWordIn(language, written, (stem, plain) => {
    found.push(stem);
    if (plain === undefined || !isCompounding(language)) return;
    for (const part of partsOf(plain, stem)) parts.push(part);
  });
  return { plain, language, words: found, parts };
}

/** Analyses a query; its words once each. */
export function analysedQuery(
  text: string,
): Omit<AnalysedText, "words" | "parts"> & { readonly words: Iterable<QueryWord> } {
  const { plain, written, language } = read(text);
  const found = new Map<string, QueryWord>();
  const take: Take = (stem, plain, written) => {
    if (plain === undefined) found.set(stem, { stem });
    else found.set(stem, { stem, plain, written: written ?? plain });
  };
  if (language === undefined) eachWord(plain, take);
  else eachWordIn(language, written, take);
  for (const stem of singleCharacters(plain)) take(stem);
  return { plain, language, words: found.values() };
}

const HAN_RUN = /\p{Script=Han}[\p{Script=Han}\p{scx=Hira}]*/gu;
const HAN = /^\p{Script=Han}$/u;
/** Made on the first query that needs it. */
let segmenter: Intl.Segmenter | undefined;

/**
 * Chinese characters that are words of their own in a text: "dog" is one, and no bigram has it alone.
 * The texts are indexed by all of their characters, see {@linkcode shortNgrams}.
 */
function singleCharacters(text: string): string[] {
  if (isAscii(text)) return [];
  return (text.match(HAN_RUN) ?? []).flatMap((run) => {
    segmenter ??= new Intl.Segmenter("zh", { granularity: "word" });
    return Array.from(segmenter.segment(run), ({ segment }) => segment)
      .filter((segment) => HAN.test(segment));
  });
}

function read(text: string): { plain: string; written: string; language: Language | undefined } {
  const ascii = isAscii(text);
  const written = ascii ? text.toLowerCase() : lower(text);
  const plain = ascii ? written : withoutAccents(written);
  return { plain, written, language: languageOf(plain, written) };
}

/**
 * The language of a text as a code of ISO 639, `und` for a script of several; `undefined` for English
 * and where it cannot be told.
 */
export function foreignLanguage(text: string): string | undefined {
  const { plain, language } = read(text);
  return language ?? languageOfScript(plain);
}

/** Words of a text of a language, with its accents. */
function eachWordIn(language: Language, written: string, take: Take): void {
  for (const match of written.match(PLAIN_WORD) ?? []) {
    if (isUnspaced(match)) {
      for (const ngram of ngrams(match)) take(ngram);
      continue;
    }
    const plain = withoutAccents(match);
    if (isStopWord(plain, language) || SCRIPT_STOP_WORDS.has(plain)) continue;
    take(stemIn(language, plain, match), plain, match);
  }
}

/** Longer runs of letters are no words, and some stemmers take long for them. */
const LONGEST_STEMMED = 64;

/** Stem of a word as texts of a language have it. */
export function stemIn(language: Language, plain: string, written: string): string {
  if (plain.length > LONGEST_STEMMED) return plain;
  return stemByScript(plain) ?? withoutAccents(STEMMERS[language](written));
}

/** Stem of a folded word in English texts, and in those whose language is not known. */
export function englishStem(word: string): string {
  return (word.length > LONGEST_STEMMED ? undefined : stemByScript(word)) ?? stem(word);
}

/**
 * Words of a folded English text in their order, stemmed, without those that say nothing; n-grams
 * where words are not told apart by spaces. An emoji is a word. Words of a script of one language
 * are stemmed by that.
 */
export function words(text: string): string[] {
  const found: string[] = [];
  eachWord(text, (stem) => found.push(stem));
  return found;
}

/** The same, one after the other. */
function eachWord(text: string, take: Take): void {
  const takeWord = (word: string): void => {
    if (word.length <= LONGEST_STOP_WORD && STOP_WORDS.has(word)) return;
    if (word.charCodeAt(0) >= FIRST_FOREIGN && SCRIPT_STOP_WORDS.has(word)) return;
    take(englishStem(word), word);
  };
  if (isAscii(text)) return eachEnglishWord(text, takeWord);
  for (const match of text.match(WORD) ?? []) {
    if (isUnspaced(match)) {
      for (const ngram of ngrams(match)) take(ngram);
    } else {
      const apostrophe = match.indexOf("'");
      takeWord(apostrophe < 0 ? match : plainWord(match, apostrophe));
    }
  }
}

/**
 * The n-grams of a folded text that are shorter than those among its words. They are for queries as
 * short only: a longer query would find most texts by its single characters.
 */
export function shortNgrams(text: string): string[] {
  return isAscii(text) ? [] : (text.match(UNSPACED_RUNS) ?? []).flatMap(shorterNgrams);
}

/** What WORD finds in a text of ASCII characters, in a third of the time. */
function eachEnglishWord(text: string, take: (word: string) => void): void {
  for (let at = 0; at < text.length; at++) {
    if (!isEnglish(text.charCodeAt(at))) continue;
    const start = at;
    while (isEnglish(text.charCodeAt(at))) at++;
    const end = at;
    if (text[at] === "'" && isLetter(text.charCodeAt(at + 1))) {
      do at++; while (isLetter(text.charCodeAt(at)));
    }
    const word = text.slice(start, at);
    take(at === end ? word : plainWord(word, end - start));
    // The loop moves on by one: a digit right behind the apostrophe's letters starts a word.
    at--;
  }
}

/** A possessive is its noun; other words lose the apostrophe only. */
function plainWord(word: string, apostrophe: number): string {
  const head = word.slice(0, apostrophe);
  const tail = word.slice(apostrophe + 1);
  return tail === "s" ? head : head + tail;
}

/** 32-bit FNV-1a over UTF-16 units. */
export function hashOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
