import { stem } from "porter2";

/** Scripts of Chinese and Japanese: a character is a syllable or a word. */
const SYLLABIC = "[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}]";
/**
 * Thai, Lao, Khmer, Burmese: most syllables take several characters. The apostrophe U+02BC is shared
 * with them, and is a letter of Ukrainian and others.
 */
const ALPHABETIC = "[[\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}]--[\\u02bc]]";
const CHARACTER = "[\\p{L}\\p{N}]";

/** Expression for a character of words that are told apart by spaces; needs the flag `v`. */
const SPACED = `[${CHARACTER}--${SYLLABIC}--${ALPHABETIC}]`;
/** Expression for a run of characters of a script written without spaces; needs the flag `v`. */
const UNSPACED_RUN = [SYLLABIC, ALPHABETIC]
  .map((script) => `[${CHARACTER}&&${script}]`)
  .map((character) => `${character}[${character}\\p{M}]*`).join("|");

/** The first character of these scripts: most words need no expression to be told from runs. */
const FIRST_UNSPACED = 0x0e01;
const UNSPACED = new RegExp(`^[${SYLLABIC}${ALPHABETIC}]`, "v");
const IS_SYLLABIC = new RegExp(`^${SYLLABIC}`, "v");
/** Vowels and tones above and below a letter are no characters of their own. */
const WITH_MARKS = /\P{M}\p{M}*/gu;

/** Characters of an n-gram: two letters of an alphabet would be found in most texts. */
const BIGRAM = 2;
const TRIGRAM = 3;

/** Whether a word is a run of a script written without spaces. */
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
const UNSPACED_RUNS = new RegExp(UNSPACED_RUN, "gv");

/** Whether a text has ASCII characters only: then simpler expressions do. */
export function isAscii(text: string): boolean {
  return !BEYOND_ASCII.test(text);
}

/** A text in normalization form KC, its runs of combining marks cut off at 30. */
export function compatible(text: string): string {
  return text.replaceAll(LONG_MARKS, "$1").normalize("NFKC");
}

/**
 * A text as it is compared: lower case, compatibility forms and typographic apostrophes made plain,
 * Latin letters without their accents.
 */
export function folded(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  return compatible(text).toLowerCase().replaceAll("\u2019", "'").replaceAll("ß", "ss")
    .normalize("NFD").replaceAll(/([a-z])\p{M}+/gu, "$1").normalize("NFC");
}

/** Whether a character code is a lower-case English letter. */
function isLetter(code: number): boolean {
  return code >= 97 && code <= 122;
}

/** Whether a character code is a lower-case English letter or a digit. */
export function isEnglish(code: number): boolean {
  return isLetter(code) || (code >= 48 && code <= 57);
}

/**
 * Words of a folded text in their order, stemmed, without those that say nothing; n-grams where
 * words are not told apart by spaces. An emoji is a word.
 */
export function words(text: string): string[] {
  const found: string[] = [];
  const take = (word: string): void => {
    if (word.length > LONGEST_STOP_WORD || !STOP_WORDS.has(word)) found.push(stem(word));
  };
  if (isAscii(text)) {
    eachEnglishWord(text, take);
  } else {
    for (const match of text.match(WORD) ?? []) {
      if (isUnspaced(match)) {
        for (const ngram of ngrams(match)) found.push(ngram);
      } else {
        const apostrophe = match.indexOf("'");
        take(apostrophe < 0 ? match : plainWord(match, apostrophe));
      }
    }
  }
  return found;
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
