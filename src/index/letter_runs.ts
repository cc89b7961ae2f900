import { isAscii } from "./words.ts";

/** Scripts in which a letter is a syllable or a word, so that shorter runs tell as much. */
const SYLLABLES = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]/;
const NO_WORD = /[^\p{L}\p{N}\p{M}]+/gu;
const NO_ENGLISH_WORD = /[^a-z0-9]+/g;

/**
 * Calls `take` with a 32-bit hash of every run of 3 and of 4 characters of a folded text, with a
 * space at either end of a word; of 2 and of 3 where the text has Han, kana or Hangul. A run that
 * occurs twice is told twice.
 */
export function eachRun(text: string, take: (hash: number) => void): void {
  const plain = text.replaceAll(isAscii(text) ? NO_ENGLISH_WORD : NO_WORD, " ").trim();
  if (plain === "") return;
  const padded = ` ${plain} `;
  const short = SYLLABLES.test(padded) ? 2 : 3;
  for (let end = short; end <= padded.length; end++) {
    let hash = 0x811c9dc5;
    for (let i = end - short; i < end; i++) {
      hash = Math.imul(hash ^ padded.charCodeAt(i), 0x01000193);
    }
    take(hash >>> 0);
    // The longer run goes on with the character that follows.
    if (end < padded.length) take(Math.imul(hash ^ padded.charCodeAt(end), 0x01000193) >>> 0);
  }
}
