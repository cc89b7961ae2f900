/** Words that change nothing about what a statement says. */
const EMPTY_WORDS = new Set(
  "a an the this that these those is are am be been being has have had do does who which and of in on at with also just very"
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
const CONTRACTIONS: readonly (readonly [RegExp, string])[] = [
  [/\bcan(?:not|'t)/g, "can not"],
  [/\bwon't/g, "will not"],
  [/n't\b/g, " not"],
  [/'m\b/g, " am"],
  [/'re\b/g, " are"],
  [/'ve\b/g, " have"],
  [/'ll\b/g, " will"],
  [/'s\b/g, " "],
];
const WORDS = new Intl.Segmenter("und", { granularity: "word" });

/** Without the endings of plural, present tense and progressive; past stays past. */
function stem(word: string): string {
  if (word.length <= 3 || /\d/.test(word)) return word;
  return word.replace(
    /(?:(?<=.{3})ing|(?<=.{2})ies|(?<=.{3}[^s])s)$/,
    (end) => end === "ies" ? "y" : "",
  )
    .replace(/(?<=.{2})e$/, "");
}

/** What a statement says, as a list of stems in its order. */
function essence(text: string): string[] {
  let plain = text.normalize("NFKC").toLowerCase().replaceAll("’", "'").replace(/^user:\s/, "");
  for (const [pattern, words] of CONTRACTIONS) plain = plain.replace(pattern, words);
  const stems: string[] = [];
  for (const { segment, isWordLike } of WORDS.segment(plain)) {
    if (!isWordLike || EMPTY_WORDS.has(segment)) continue;
    stems.push(PRONOUNS.get(segment) ?? stem(segment));
  }
  return stems;
}

/** Whether the second list is the first one with a part moved from its front to its end. */
function isRotation(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  return a.some((_, by) => b.every((word, i) => word === a[(i + by) % a.length]));
}

/**
 * Whether two statements say the same: equal but for case, punctuation, contractions, grammatical
 * endings and empty words, or with a part moved to the front.
 *
 * Whatever else differs makes them different. Vectors cannot decide this: two dates or two names in
 * one sentence lie closer together than two wordings of one fact (docs/analyze.md).
 */
export function isSameStatement(a: string, b: string): boolean {
  if (a === b) return true;
  const [first, second] = [essence(a), essence(b)];
  return first.length > 0 && isRotation(first, second);
}
