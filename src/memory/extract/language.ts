/** Words that English cannot do without, and other languages hardly have. */
const ENGLISH = new Set(
  ("the a an and or but of to in on at for with from by is are was were be been am has have had " +
    "do does did will would can could not no i you he she it we they my your his her our their " +
    "this that these those as if so than then there when what who which because about into")
    .split(" "),
);
const WORD = /\p{L}+(?:['’]\p{L}+)?/gu;

/**
 * Whether a text is English, which the cues are made for. Notes leave the small words out: a short
 * text in plain Latin letters without them is `unclear`.
 */
export function languageOf(text: string): "english" | "unclear" | "other" {
  const words = text.toLowerCase().match(WORD) ?? [];
  const small = words.filter((word) => ENGLISH.has(word) || /['’](?:s|m|re|ve|ll|d|t)$/.test(word));
  if (small.length >= 0.15 * words.length) return "english";
  const isPlain = words.every((word) => /^[a-z'’]+$/.test(word));
  return isPlain && words.length < 12 ? "unclear" : "other";
}
