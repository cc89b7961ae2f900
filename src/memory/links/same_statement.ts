import { compatible } from "../../index/words/words.ts";
import { lately } from "./lately.ts";

/** Words that change nothing about what a statement says. */
const EMPTY_WORDS = new Set(
  "a an the this that these those is are am be been being has have do does who which and of with also just very"
    .split(" "),
);
/** Forms of one pronoun; different persons stay different. */
const PRONOUNS = new Map(
  ["i me my mine myself", "we us our ours ourselves", "you your yours", "he him his himself"]
    .concat([
      "she her hers herself",
      "they them their theirs themselves",
      "it its itself",
    ]).flatMap((forms) => {
      const [first = "", ...others] = forms.split(" ");
      return others.map((form): [string, string] => [form, first]);
    }),
);
/** Longest text whose words are compared, in characters. */
const LONGEST = 2_000;
/** Most words of a statement of which a part may have been moved to the front. */
const MOST_TURNED = 64;
const CONTRACTIONS: readonly (readonly [RegExp, string])[] = [
  [/\bcan(?:not|'t)/g, "can not"],
  [/\bwon't/g, "will not"],
  [/n't\b/g, " not"],
  [/'m\b/g, " am"],
  [/'re\b/g, " are"],
  [/'ve\b/g, " have"],
  [/'ll\b/g, " will"],
  [/'s\b/g, " "],
  [/(?<![\p{L}\p{N}])[-\u2212](?=\d)/gu, " minus "],
];
const WORDS = new Intl.Segmenter("und", { granularity: "word" });

/** Signs that are part of what is said: of numbers, amounts and names such as C++. */
const SIGN = /[\p{Sc}\p{Sm}\p{So}%#§°]/u;

/**
 * A word, and what it may be without the endings of plural, present tense and progressive; past
 * stays past. Names that differ by an ending, such as Ann and Anne, have no form in common.
 */
function formsOf(word: string): readonly string[] {
  if (word.length <= 3 || /\d/.test(word)) return [word];
  if (/.{3}ing$/.test(word)) return [word, word.slice(0, -3), `${word.slice(0, -3)}e`];
  if (/.{2}ies$/.test(word)) return [word, `${word.slice(0, -3)}y`, word.slice(0, -1)];
  if (/.{3}[^s]s$/.test(word)) return [word, word.slice(0, -1)];
  return [word];
}

function isSameWord(a: readonly string[], b: readonly string[]): boolean {
  return a.some((form) => b.includes(form));
}

/** A text in lower case, its contractions written out; a possessive is its noun. */
export function withoutContractions(lower: string): string {
  let plain = lower;
  for (const [pattern, words] of CONTRACTIONS) plain = plain.replace(pattern, words);
  return plain;
}

/** What a statement says, as a list of words in its order, each in its forms. */
const essenceOf = lately((text): readonly (readonly string[])[] => {
  const lower = compatible(text).toLowerCase().replaceAll("’", "'").replace(/^user:\s/, "");
  const plain = withoutContractions(lower);
  const words: (readonly string[])[] = [];
  for (const { segment, isWordLike } of WORDS.segment(plain)) {
    if (isWordLike ? EMPTY_WORDS.has(segment) : !SIGN.test(segment)) continue;
    const pronoun = PRONOUNS.get(segment);
    words.push(pronoun === undefined ? formsOf(segment) : [pronoun]);
  }
  return words;
});

/** Whether the second list is the first one, or that with a part moved from its front to its end. */
function isRotation(
  a: readonly (readonly string[])[],
  b: readonly (readonly string[])[],
): boolean {
  if (a.length !== b.length) return false;
  const most = a.length > MOST_TURNED ? 1 : a.length;
  for (let by = 0; by < most; by++) {
    if (b.every((word, i) => isSameWord(word, a[(i + by) % a.length]!))) return true;
  }
  return false;
}

/** A text that is compared with many others: its words are looked at once. */
export class Statement {
  readonly #text: string;
  readonly #words: readonly (readonly string[])[];

  constructor(text: string) {
    this.#text = text;
    this.#words = text.length > LONGEST ? [] : essenceOf(text);
  }

  /**
   * Whether two statements say the same: equal but for case, punctuation, contractions, grammatical
   * endings and empty words, or with a part moved to the front. Long ones only when they are equal.
   *
   * Whatever else differs makes them different. Vectors cannot decide this: two dates or two names
   * in one sentence lie closer together than two wordings of one fact (docs/analyze.md).
   */
  saysTheSame(other: Statement): boolean {
    if (this.#text === other.#text) return true;
    return this.#words.length > 0 && isRotation(this.#words, other.#words);
  }
}
