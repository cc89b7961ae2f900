/** Words that say nothing about what a sentence is about. */
const FUNCTION_WORDS = new Set(
  ("a an the and or but nor so yet of to in on at for with from by about as into than then is are " +
    "was were be been being am has have had do does did will would shall should can could may " +
    "might must not no i me my mine you your he him his she her hers it its we us our they them " +
    "their this that these those there here who whom which what when where why how if because " +
    "also just very too s t m re ve ll d")
    .split(" "),
);
const SEGMENTER = new Intl.Segmenter("und", { granularity: "word" });

function stem(word: string): string {
  if (word.length <= 4) return word.replace(/(?<=[a-z]{3})s$/, "");
  return word.replace(/(?:ings?|ied|ies|ed|es|s)$/, "").replace(/e$/, "");
}

/** The stems that count when a label is looked for in a fact. */
export function contentWords(text: string): Set<string> {
  const words = new Set<string>();
  for (
    const { segment, isWordLike } of SEGMENTER.segment(text.toLowerCase().replace(/[’']s\b/g, ""))
  ) {
    if (isWordLike && !FUNCTION_WORDS.has(segment)) words.add(stem(segment));
  }
  return words;
}

/** Share of a label's content words that a fact holds, 0 to 1. */
export function share(label: string, fact: string): number {
  const wanted = contentWords(label);
  const held = contentWords(fact);
  return wanted.size === 0 ? 1 : [...wanted].filter((word) => held.has(word)).length / wanted.size;
}
