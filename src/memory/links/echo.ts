import { sentences } from "../extract/sentences.ts";
import type { Proposal } from "./judge.ts";
import { ECHO, judgeRepetition } from "./restatement.ts";
import { isDated, withoutOpening } from "./said.ts";
import { NEGATIONS } from "./wordings.ts";

/** The rule that finds what is a part of what was recalled just before. */
const RECALLED = "recalled";
/** Longest echo, and longest memory of which it may be a part, in characters. */
const SHORT = 400;
const LONGEST_ANSWERED = 4_000;
/** Most sentences of a memory that are compared. */
const MOST_SENTENCES = 40;
/** Fewest words of an echo that says less, and most words of a phrase that it leaves out. */
const LEAST_WORDS = 3;
const MOST_LEFT_OUT = 6;

/** What begins a phrase that may be left out. */
const BEGINNINGS = new Set("in on at with near by during of".split(" "));
/** Words without which more is said. */
const LIMITING = new Set(
  ("only almost nearly barely hardly scarcely seldom rarely sometimes usually mostly often maybe " +
    "perhaps possibly probably if unless except besides but and or than to until till when while " +
    "least most case theory secret principle would could should might must , ; :").split(" "),
);
/** The two who talk with each other, each as the other says it. */
const PERSONS: ReadonlyMap<string, string> = new Map(
  ["i you we me us", "my your our", "mine yours ours", "am are is"].flatMap((group) => {
    const words = group.split(" ");
    return words.map((word): [string, string] => [word, words[0]!]);
  }),
);
const ARTICLES = new Set(["a", "an", "the", "that"]);

/**
 * Finds that a new memory only says again what its writer was answered just before: one sentence of the
 * older one, or that without a phrase of place, time or company, where its first words say that it was
 * said before.
 */
export function judgeEcho(older: string, newer: string): Proposal | undefined {
  if (newer.length > SHORT || older.length > LONGEST_ANSWERED) return undefined;
  const found = sentences(older).slice(0, MOST_SENTENCES);
  const { text, isEcho } = withoutOpening(plain(newer));
  // "You told me that" may be followed by what is wanted, or by what is so.
  const said = wordsOf(text.replace(/^please (?=you|your)/u, ""));
  for (const part of found.length > 1 ? found : [older]) {
    const same = judgeRepetition(part, newer);
    if (same !== undefined) return { ...same, by: same.by === ECHO ? ECHO : RECALLED };
    if (isEcho && said.length >= LEAST_WORDS && saysLess(wordsOf(plain(part)), said)) {
      return { kind: "restates", by: ECHO, score: 0.8 };
    }
  }
  return undefined;
}

function plain(text: string): string {
  return text.toLowerCase().replaceAll("’", "'").replaceAll(/\bi'm\b/gu, "i am")
    .replaceAll(/\byou're\b/gu, "you are").replaceAll(/\s+/gu, " ").trim();
}

/** The words of a text as both say them; a pause is one, too. */
function wordsOf(text: string): string[] {
  const words = text.replace(/[.!]+$/u, "").match(/[^\s,;:]+|[,;:](?=\s|$)/gu) ?? [];
  return words.filter((word) => !ARTICLES.has(word)).map((word) => PERSONS.get(word) ?? word);
}

/** Whether the second are the first ones without phrases that may be left out. */
function saysLess(all: readonly string[], some: readonly string[]): boolean {
  if (all.length <= some.length || all.some((word) => NEGATIONS.has(word))) return false;
  /** How many of the second are found, by each way to leave something out. */
  let reached = new Set([0]);
  /** The same behind phrases that were left out, by where they end. */
  const skipped = new Map<number, Set<number>>();
  for (let at = 0; at < all.length; at++) {
    for (const found of skipped.get(at) ?? []) reached.add(found);
    const next = new Set<number>();
    for (const found of reached) {
      if (some[found] === all[at]) next.add(found + 1);
      if (found === 0 || !BEGINNINGS.has(all[at]!)) continue;
      for (let end = at + 2; end <= Math.min(all.length, at + MOST_LEFT_OUT); end++) {
        if (!mayBeLeftOut(all[end - 1]!)) break;
        skipped.getOrInsertComputed(end, () => new Set()).add(found);
        if (end === all.length && found === some.length) return true;
      }
    }
    reached = next;
  }
  return reached.has(some.length);
}

function mayBeLeftOut(word: string): boolean {
  return !LIMITING.has(word) && !isDated(word) && !/\d/u.test(word);
}
