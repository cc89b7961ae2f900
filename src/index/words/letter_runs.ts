import { isAscii, isEnglish } from "./words.ts";

/** Scripts in which a letter is a syllable or a word, so that shorter runs tell as much. */
const SYLLABLES = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]/;
const NO_WORD = /[^\p{L}\p{N}\p{M}]+/gu;
const SPACE = 32;
/** Of 32-bit FNV-1a, as in `hashOf`. */
const BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/**
 * Calls `take` with a 32-bit hash of every run of 3 and of 4 characters of a folded text, with a
 * space at either end of a word; of 2 and of 3 where the text has Han, kana or Hangul. A run that
 * occurs twice is told twice.
 */
export function eachRun(text: string, take: (hash: number) => void): void {
  if (isAscii(text)) return eachEnglishRun(text, take);
  const plain = text.replaceAll(NO_WORD, " ").trim();
  if (plain === "") return;
  const padded = ` ${plain} `;
  const short = SYLLABLES.test(padded) ? 2 : 3;
  for (let end = short; end <= padded.length; end++) {
    let hash = BASIS;
    for (let i = end - short; i < end; i++) hash = Math.imul(hash ^ padded.charCodeAt(i), PRIME);
    take(hash >>> 0);
    // The longer run goes on with the character that follows.
    if (end < padded.length) take(Math.imul(hash ^ padded.charCodeAt(end), PRIME) >>> 0);
  }
}

/** The same for a text of ASCII characters, in one pass and without strings in between. */
function eachEnglishRun(text: string, take: (hash: number) => void): void {
  let before = 0;
  let last = SPACE;
  /** Characters so far, with the space in front, and the run of the last three of them. */
  let count = 1;
  let run = 0;
  for (let i = 0; i <= text.length; i++) {
    const read = i < text.length ? text.charCodeAt(i) : SPACE;
    const code = isEnglish(read) ? read : SPACE;
    if (code === SPACE && last === SPACE) continue;
    if (count >= 3) take(Math.imul(run ^ code, PRIME) >>> 0);
    if (count >= 2) {
      run = Math.imul(Math.imul(Math.imul(BASIS ^ before, PRIME) ^ last, PRIME) ^ code, PRIME);
      take(run >>> 0);
    }
    before = last;
    last = code;
    count++;
  }
}
