import type { Proposal } from "./judge.ts";

/** Shortest text that may be a document, in characters: notes of a few sentences differ in one of them. */
const SHORTEST = 400;
/** Words of a shingle: a run of words that is rarely the same by chance. */
const SHINGLE = 4;
/** Share of shingles that two versions of one document have in common at least. */
const LEAST_COMMON = 0.75;
/** Longest title that is compared, in characters. */
const TITLE = 60;

const WORD = /[\p{L}\p{N}]+/gu;

/**
 * Finds that a long text is another version of an older one, such as the rules that an assistant reads
 * at each start: it begins alike, and most runs of words are the same. It then takes its place, because
 * what differs is what is new.
 */
export function judgeResent(older: string, newer: string): Proposal | undefined {
  const shorter = Math.min(older.length, newer.length);
  if (shorter < SHORTEST || shorter < LEAST_COMMON * Math.max(older.length, newer.length) / 2) {
    return undefined;
  }
  // Forms that are filled in for several people differ where they name them: at their beginning.
  if (titleOf(older) !== titleOf(newer)) return undefined;
  const [a, b] = [shinglesOf(older), shinglesOf(newer)];
  const common = a.intersection(b).size;
  const share = common / (a.size + b.size - common);
  return share >= LEAST_COMMON ? { kind: "supersedes", by: "sent_again", score: share } : undefined;
}

/** The first line, or as much of it as names a document, in words. */
function titleOf(text: string): string {
  const line = text.trimStart().split("\n", 1)[0]!.slice(0, TITLE);
  return (line.toLowerCase().match(WORD) ?? []).join(" ");
}

function shinglesOf(text: string): Set<string> {
  const words = text.toLowerCase().match(WORD) ?? [];
  const found = new Set<string>();
  for (let end = SHINGLE; end <= words.length; end++) {
    found.add(words.slice(end - SHINGLE, end).join(" "));
  }
  return found;
}
