/** Words that English cannot do without, and other languages hardly have. */
const ENGLISH = new Set(
  ("the a an and or but of to in on at for with from by is are was were be been am has have had " +
    "do does did will would can could not no i you he she it we they my your his her our their " +
    "this that these those as if so than then there when what who which because about into")
    .split(" "),
);
const WORD = /\p{L}+(?:['’]\p{L}+)?/gu;

/**
 * Whether the cues, which are English, may judge a text. Short texts count as English when they are
 * written in Latin letters: notes leave the small words out.
 */
export function isEnglish(text: string): boolean {
  const words = text.toLowerCase().match(WORD) ?? [];
  if (words.length === 0) return true;
  const plain = words.filter((word) => /^[a-z'’]+$/.test(word)).length;
  const small = words.filter((word) => ENGLISH.has(word) || /['’](?:s|m|re|ve|ll|d|t)$/.test(word));
  const share = small.length / words.length;
  return share >= 0.15 || (plain === words.length && words.length < 12);
}
