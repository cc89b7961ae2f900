import { sha256 } from "@noble/hashes/sha2.js";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import type { Finding } from "./kinds.ts";

/** Numbers of words that BIP-39 has, the longest first. */
const LENGTHS = [24, 21, 18, 15, 12];
const SHORTEST = 12;
/** Checksums that are computed for one text; ordinary texts need none. */
const MOST_CHECKS = 500;

/** Letters of the words of the list. */
const MIN_LETTERS = 3;
const MAX_LETTERS = 8;
/** Most characters between two words. */
const MAX_BETWEEN = 12;
/** What may stand between two words: blanks, commas, and the numbers of a list. */
const BETWEEN: ReadonlySet<number> = new Set(
  [..." \t\r\n,;.:|\"'()-0123456789"].map((character) => character.charCodeAt(0)),
);

const NUMBERS: ReadonlyMap<string, number> = new Map(wordlist.map((word, i) => [word, i]));

/** Where a word stands. */
interface Word {
  readonly start: number;
  readonly end: number;
}

/** Whether the last bits of the words are the checksum of the others. */
function fits(numbers: readonly number[]): boolean {
  const checkBits = numbers.length / 3;
  const bits = numbers.map((number) => number.toString(2).padStart(11, "0")).join("");
  const entropy = new Uint8Array(4 * checkBits);
  for (let i = 0; i < entropy.length; i++) {
    entropy[i] = parseInt(bits.slice(8 * i, 8 * i + 8), 2);
  }
  const check = sha256(entropy)[0]!.toString(2).padStart(8, "0").slice(0, checkBits);
  return bits.endsWith(check);
}

function isLetter(code: number): boolean {
  const small = code | 32;
  return small >= 97 && small <= 122;
}

/**
 * Runs of words that are as long as those of the list, with nothing else between them, and enough
 * for a phrase. Nearly all of prose ends here, before any word is looked up.
 */
function* shapesIn(text: string): Generator<Word[], void, undefined> {
  let run: Word[] = [];
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (isLetter(code)) {
      const start = at;
      while (at < text.length && isLetter(text.charCodeAt(at))) at++;
      if (at - start >= MIN_LETTERS && at - start <= MAX_LETTERS) {
        run.push({ start, end: at });
        continue;
      }
    } else {
      at++;
      const last = run.at(-1);
      if (last === undefined || (BETWEEN.has(code) && at - last.end <= MAX_BETWEEN)) continue;
    }
    if (run.length >= SHORTEST) yield run;
    run = [];
  }
  if (run.length >= SHORTEST) yield run;
}

/** Runs of words of the list that are long enough to hold a phrase, with their numbers. */
function* runsIn(text: string): Generator<readonly [Word[], number[]], void, undefined> {
  for (const words of shapesIn(text)) {
    const numbers = words.map(({ start, end }) =>
      NUMBERS.get(text.slice(start, end).toLowerCase()) ?? -1
    );
    for (let from = 0; from < words.length;) {
      const stranger = numbers.indexOf(-1, from);
      const end = stranger < 0 ? words.length : stranger;
      if (end - from >= SHORTEST) yield [words.slice(from, end), numbers.slice(from, end)];
      from = end + 1;
    }
  }
}

/** Each seed phrase of BIP-39 in English whose checksum fits. */
export function findSeedPhrases(text: string): Finding[] {
  const found: Finding[] = [];
  let checks = 0;
  const lengthAt = (numbers: readonly number[], from: number): number | undefined =>
    LENGTHS.find((length) => {
      if (from + length > numbers.length) return false;
      const phrase = numbers.slice(from, from + length);
      // Words that are drawn repeat rarely; one word again and again may fit, too.
      if (new Set(phrase).size < length / 2) return false;
      // So many words of the list and nothing else are no prose; one in sixteen fits by chance.
      return ++checks > MOST_CHECKS || fits(phrase);
    });
  for (const [words, numbers] of runsIn(text)) {
    for (let i = 0; i + SHORTEST <= words.length;) {
      const length = lengthAt(numbers, i);
      if (length === undefined) {
        i++;
        continue;
      }
      found.push({ kind: "seed_phrase", start: words[i]!.start, end: words[i + length - 1]!.end });
      i += length;
    }
  }
  return found;
}
