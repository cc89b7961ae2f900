import type { Language } from "./languages.ts";

/** Languages that write compounds as one word. */
const COMPOUNDING: ReadonlySet<Language> = new Set(["de", "nl", "sv", "da", "no", "fi", "hu"]);

/** Letters of the shortest word that is taken for a compound, of a part of one, and of the rest. */
const SHORTEST = 8;
const SHORTEST_PART = 4;
const SHORTEST_REST = 3;
/** A longer word is a code or a run of words, and would have as many parts. */
const LONGEST = 40;

/** Stands before a part, so that it is told from a word. */
const MARK = "~";

/** Letters that stand between two parts. */
const LINKS = ["", "s", "n", "en", "es", "e"] as const;

/** Whether a language writes compounds as one word. */
export function isCompounding(language: Language): boolean {
  return COMPOUNDING.has(language);
}

/** What a part of a compound is indexed as. */
export function partOf(word: string): string {
  return MARK + word;
}

/**
 * What a long word may consist of: its beginnings as they are, and its ends by their stems, which
 * are ends of its own. No dictionary says which of them are words; a query that has one of them does.
 */
export function partsOf(word: string, stem: string): Iterable<string> {
  const parts = new Set<string>();
  if (word.length < SHORTEST || word.length > LONGEST) return parts;
  for (let at = SHORTEST_PART; at <= word.length - SHORTEST_REST; at++) {
    parts.add(partOf(word.slice(0, at)));
  }
  for (let at = SHORTEST_REST; at <= word.length - SHORTEST_PART; at++) {
    parts.add(partOf(stem.slice(at)));
  }
  return parts;
}

/**
 * The longest beginning and the longest end of a long word that the texts know.
 *
 * @param isKnown Whether a text has a word.
 */
export function knownParts(word: string, isKnown: (part: string) => boolean): string[] {
  if (word.length < SHORTEST || word.length > LONGEST) return [];
  const found: string[] = [];
  for (let at = word.length - SHORTEST_REST; at >= SHORTEST_PART && found.length === 0; at--) {
    const beginning = word.slice(0, at);
    const part = LINKS.filter((link) => beginning.endsWith(link))
      .map((link) => beginning.slice(0, at - link.length))
      .find((start) => start.length >= SHORTEST_PART && isKnown(start));
    if (part !== undefined) found.push(part);
  }
  for (let at = SHORTEST_REST; at <= word.length - SHORTEST_PART; at++) {
    const end = word.slice(at);
    if (!isKnown(end)) continue;
    if (!found.includes(end)) found.push(end);
    break;
  }
  return found;
}
