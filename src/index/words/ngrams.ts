/** Scripts of Chinese and Japanese: a character is a syllable or a word. */
const SYLLABIC = "[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}]";
/**
 * Thai, Lao, Khmer, Burmese: most syllables take several characters. The apostrophe U+02BC is shared
 * with them, and is a letter of Ukrainian and others.
 */
const ALPHABETIC = "[[\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}]--[\\u02bc]]";
const CHARACTER = "[\\p{L}\\p{N}]";

/** Expression for a character of words that are told apart by spaces; needs the flag `v`. */
export const SPACED = `[${CHARACTER}--${SYLLABIC}--${ALPHABETIC}]`;
/** Expression for a run of characters of a script written without spaces; needs the flag `v`. */
export const UNSPACED_RUN = [SYLLABIC, ALPHABETIC]
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
export function isUnspaced(word: string): boolean {
  return word.charCodeAt(0) >= FIRST_UNSPACED && UNSPACED.test(word);
}

/**
 * What stands for the words of such a run: its overlapping bigrams, of an alphabet trigrams; the run
 * itself where it is no longer than that.
 */
export function ngrams(run: string): string[] {
  const characters = charactersOf(run);
  return ngramsOf(characters, Math.min(lengthIn(run), characters.length));
}

/** The n-grams of such a run that are shorter than those. */
export function shorterNgrams(run: string): string[] {
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
