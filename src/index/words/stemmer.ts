/**
 * Porter2, the English stemmer of the Snowball project
 * (https://snowballstem.org/algorithms/english/stemmer.html). Words are lower case; a `y` that is a
 * consonant is written `Y` while the steps run.
 */

const VOWELS = "aeiouy";
/** 1 for the character codes of vowels. */
const IS_VOWEL = Uint8Array.from({ length: 128 }, (_, code) => {
  return VOWELS.includes(String.fromCharCode(code)) ? 1 : 0;
});
const DOUBLES = new Set(["bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt"]);
const LI_ENDINGS = "cdeghkmnrt";

/** Words that the steps would get wrong, with their stems. */
const EXCEPTIONS = new Map([
  ["skis", "ski"],
  ["skies", "sky"],
  ["dying", "die"],
  ["lying", "lie"],
  ["tying", "tie"],
  ["idly", "idl"],
  ["gently", "gentl"],
  ["ugly", "ugli"],
  ["early", "earli"],
  ["only", "onli"],
  ["singly", "singl"],
  ["sky", "sky"],
  ["news", "news"],
  ["howe", "howe"],
  ["atlas", "atlas"],
  ["cosmos", "cosmos"],
  ["bias", "bias"],
  ["andes", "andes"],
]);
/** Words that are stems once a plural ending is gone. */
const FINISHED = new Set(
  ["inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed"],
);

/** An ending and what takes its place. */
type Rule = readonly [ending: string, replacement: string];

/** Rules by the last letter of their ending, in their order: of most words no rule is tried. */
function byLastLetter(rules: readonly Rule[]): readonly (readonly Rule[])[] {
  const table: Rule[][] = Array.from({ length: 128 }, () => []);
  for (const rule of rules) table[rule[0].charCodeAt(rule[0].length - 1)]!.push(rule);
  return table;
}

const NO_RULES: readonly Rule[] = [];

function rulesFor(table: readonly (readonly Rule[])[], word: string): readonly Rule[] {
  return table[word.charCodeAt(word.length - 1)] ?? NO_RULES;
}

const STEP_2 = byLastLetter([
  ["ization", "ize"],
  ["ational", "ate"],
  ["fulness", "ful"],
  ["ousness", "ous"],
  ["iveness", "ive"],
  ["tional", "tion"],
  ["biliti", "ble"],
  ["lessli", "less"],
  ["entli", "ent"],
  ["ation", "ate"],
  ["alism", "al"],
  ["aliti", "al"],
  ["ousli", "ous"],
  ["iviti", "ive"],
  ["fulli", "ful"],
  ["enci", "ence"],
  ["anci", "ance"],
  ["abli", "able"],
  ["izer", "ize"],
  ["ator", "ate"],
  ["alli", "al"],
  ["bli", "ble"],
  ["ogi", "og"],
  ["li", ""],
]);
const STEP_3 = byLastLetter([
  ["ational", "ate"],
  ["tional", "tion"],
  ["alize", "al"],
  ["icate", "ic"],
  ["iciti", "ic"],
  ["ative", ""],
  ["ical", "ic"],
  ["ness", ""],
  ["ful", ""],
]);
const STEP_4 = byLastLetter([
  ["ement", ""],
  ["ance", ""],
  ["ence", ""],
  ["able", ""],
  ["ible", ""],
  ["ment", ""],
  ["ant", ""],
  ["ent", ""],
  ["ism", ""],
  ["ate", ""],
  ["iti", ""],
  ["ous", ""],
  ["ive", ""],
  ["ize", ""],
  ["ion", ""],
  ["al", ""],
  ["er", ""],
  ["ic", ""],
]);

const isVowel = (word: string, at: number): boolean => {
  return at >= 0 && IS_VOWEL[word.charCodeAt(at)] === 1;
};

function hasVowel(word: string, end: number): boolean {
  for (let i = 0; i < end; i++) if (isVowel(word, i)) return true;
  return false;
}

/** Position behind the first consonant that follows a vowel, from `start`. */
function regionAfter(word: string, start: number): number {
  for (let i = start + 1; i < word.length; i++) {
    if (!isVowel(word, i) && isVowel(word, i - 1)) return i + 1;
  }
  return word.length;
}

/** Whether the word ends in a short syllable. */
function endsShort(word: string): boolean {
  const last = word.length - 1;
  if (last === 1) return isVowel(word, 0) && !isVowel(word, 1);
  return last > 1 && !isVowel(word, last) && !"wxY".includes(word[last]!) &&
    isVowel(word, last - 1) && !isVowel(word, last - 2);
}

/** Marks the consonants among the `y`: the first letter, and those after a vowel. */
function markY(word: string): string {
  if (!word.includes("y")) return word;
  let out = "";
  for (let i = 0; i < word.length; i++) {
    out += word[i] === "y" && (i === 0 || VOWELS.includes(out[i - 1]!)) ? "Y" : word[i];
  }
  return out;
}

function step1a(word: string): string {
  if (word.endsWith("sses")) return word.slice(0, -2);
  if (word.endsWith("ied") || word.endsWith("ies")) {
    return word.slice(0, word.length > 4 ? -2 : -1);
  }
  if (!word.endsWith("s") || word.endsWith("us") || word.endsWith("ss")) return word;
  return hasVowel(word, word.length - 2) ? word.slice(0, -1) : word;
}

function step1b(word: string, r1: number): string {
  const last = word[word.length - 1];
  if (last !== "d" && last !== "g" && last !== "y") return word;
  for (const ending of ["eedly", "eed"]) {
    if (!word.endsWith(ending)) continue;
    const at = word.length - ending.length;
    return at >= r1 ? word.slice(0, at + 2) : word;
  }
  for (const ending of ["ingly", "edly", "ing", "ed"]) {
    if (!word.endsWith(ending)) continue;
    const at = word.length - ending.length;
    if (!hasVowel(word, at)) return word;
    const base = word.slice(0, at);
    const two = base.slice(-2);
    if (two === "at" || two === "bl" || two === "iz") return base + "e";
    if (DOUBLES.has(two)) return base.slice(0, -1);
    return base.length <= r1 && endsShort(base) ? base + "e" : base;
  }
  return word;
}

function step1c(word: string): string {
  const last = word.length - 1;
  return last > 1 && (word[last] === "y" || word[last] === "Y") && !isVowel(word, last - 1)
    ? word.slice(0, -1) + "i"
    : word;
}

function step2(word: string, r1: number): string {
  for (const [ending, replacement] of rulesFor(STEP_2, word)) {
    if (!word.endsWith(ending)) continue;
    const at = word.length - ending.length;
    if (at < r1) return word;
    if (ending === "ogi" && word[at - 1] !== "l") return word;
    if (ending === "li" && !LI_ENDINGS.includes(word[at - 1]!)) return word;
    return word.slice(0, at) + replacement;
  }
  return word;
}

function step3(word: string, r1: number, r2: number): string {
  for (const [ending, replacement] of rulesFor(STEP_3, word)) {
    if (!word.endsWith(ending)) continue;
    const at = word.length - ending.length;
    return at < (ending === "ative" ? r2 : r1) ? word : word.slice(0, at) + replacement;
  }
  return word;
}

function step4(word: string, r2: number): string {
  for (const [ending] of rulesFor(STEP_4, word)) {
    if (!word.endsWith(ending)) continue;
    const at = word.length - ending.length;
    if (at < r2 || (ending === "ion" && !"st".includes(word[at - 1]!))) return word;
    return word.slice(0, at);
  }
  return word;
}

function step5(word: string, r1: number, r2: number): string {
  const at = word.length - 1;
  if (word[at] === "e") {
    const drop = at >= r2 || (at >= r1 && !endsShort(word.slice(0, at)));
    return drop ? word.slice(0, at) : word;
  }
  return word[at] === "l" && at >= r2 && word[at - 1] === "l" ? word.slice(0, at) : word;
}

/** The stem of a lower-case English word; words of other languages come back changed little. */
export function stem(input: string): string {
  if (input.length < 3) return input;
  const exception = EXCEPTIONS.get(input);
  if (exception !== undefined) return exception;
  let word = markY(input);
  let r1 = regionAfter(word, 0);
  if (word.startsWith("gener") || word.startsWith("arsen")) r1 = 5;
  else if (word.startsWith("commun")) r1 = 6;
  const r2 = regionAfter(word, r1);
  word = step1a(word);
  if (FINISHED.has(word)) return word;
  word = step1c(step1b(word, r1));
  word = step4(step3(step2(word, r1), r1, r2), r2);
  return step5(word, r1, r2).replaceAll("Y", "y");
}
