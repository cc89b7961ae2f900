import { stem } from "./stemmer.ts";

/** English words that say nothing about a memory. */
const STOP_WORDS = new Set(
  ("a about am an and are as at be been being but by can could did do does doing for from had has " +
    "have he her hers him his how i if in into is it its itself may me might must my myself no not " +
    "of on or our ours shall she should so such than that the their theirs them then there these " +
    "they this those to too us was we were what when where which who whom why will with would you " +
    "your yours").split(" "),
);

const BEYOND_ASCII = /[\u0080-\uffff]/;
const ENGLISH_WORD = /[a-z0-9]+(?:'[a-z]+)?/g;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:'[a-z]+)?/gu;

/** Whether a text has ASCII characters only: then simpler expressions do. */
export function isAscii(text: string): boolean {
  return !BEYOND_ASCII.test(text);
}

/**
 * A text as it is compared: lower case, compatibility forms and typographic apostrophes made plain,
 * Latin letters without their accents.
 */
export function folded(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  return text.normalize("NFKC").toLowerCase().replaceAll("\u2019", "'").replaceAll("ß", "ss")
    .normalize("NFD").replaceAll(/([a-z])\p{M}+/gu, "$1").normalize("NFC");
}

/** Words of a folded text in their order, stemmed, without those that say nothing. */
export function words(text: string): string[] {
  const found: string[] = [];
  for (const match of text.match(isAscii(text) ? ENGLISH_WORD : WORD) ?? []) {
    // A possessive is its noun; other words lose the apostrophe only.
    const word = match.includes("'") ? match.replace(/'s$/, "").replaceAll("'", "") : match;
    if (!STOP_WORDS.has(word)) found.push(stem(word));
  }
  return found;
}

/** 32-bit FNV-1a over UTF-16 units. */
export function hashOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
