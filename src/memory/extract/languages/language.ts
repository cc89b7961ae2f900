/** A pattern of a sentence, and what it adds to how much the sentence is worth keeping. */
export type Cue = readonly [pattern: RegExp, weight: number];

/** What the rules know of one language. Patterns are tried on one sentence of at most 500 characters. */
export interface Language {
  /** Words that a text can hardly do without, and that texts in other languages hardly have. */
  readonly smallWords: ReadonlySet<string>;
  /** Small words that are written together with the next or the last one. */
  readonly contracted?: RegExp;
  /** What any statement is worth before its cues are added. */
  readonly base: number;
  /** Signs that a sentence says something worth keeping, or that it does not. */
  readonly cues: readonly Cue[];
  /** What may matter for years: health, identity, family, firm rules. */
  readonly lasting: RegExp;
  /** What soon is over. */
  readonly passing: RegExp;
  /** A word of the first person, for which a reader must know who speaks. */
  readonly firstPerson: RegExp;
  /** A start that refers to what was said before. */
  readonly referring: RegExp;
  /** A pronoun, wherever it stands. */
  readonly pronoun: RegExp;
  /** A word for a thing that a short sentence does not name itself. */
  readonly pointing: RegExp;
  /** A verb that makes words a sentence. */
  readonly verb: RegExp;
  /** Salutations and fillers at a sentence's start, that are left away. */
  readonly opening: RegExp;
  /** Sounds of somebody who thinks, that are left away. */
  readonly hesitation: RegExp;
  /** The start of a question, also of one without a question mark. */
  readonly question: RegExp;
  /** A question that offers something: its answer says nothing about anybody. */
  readonly offer: RegExp;
  /** An answer that says nothing but yes or no. */
  readonly yesOrNo: RegExp;
  /** Words before the name at the end of a letter. */
  readonly closing: RegExp;
  /** Where dictation without punctuation goes on to the next thing. */
  readonly seam: RegExp;
}

/** Apostrophes of either kind. */
const pattern = (source: string): string => source.replaceAll("'", "['’]");

/** Matches whole words, wherever they stand. */
export function words(source: string): RegExp {
  return new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${pattern(source)})(?![\p{L}\p{N}])`, "iu");
}

/** Matches whole words at the start, behind quotation marks and the like. */
export function start(source: string): RegExp {
  return new RegExp(String.raw`^["“'(¿¡]{0,3}(?:${pattern(source)})(?![\p{L}\p{N}])`, "iu");
}

/** Matches all of the sounds, with the blank behind them. */
export function sounds(source: string): RegExp {
  return new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${source}),? `, "giu");
}

/** A set of the words in a text. */
export function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}

/** Cues of every language. */
export const COMMON_CUES: readonly Cue[] = [
  // Numbers, dates, times, amounts, codes.
  [/\d/u, 0.8],
  // A word and what it stands for.
  [/^[^:=]{2,40}(?:\s?[:=]|\s(?:->|→))\s\S/u, 0.5],
];

/** A name inside of a sentence, in languages that write other nouns small. */
export const NAME: Cue = [
  /(?<!^)(?<![¡¿])(?<![.!?:…]\s["'“(]?)(?<!\p{L})\p{Lu}\p{Ll}{2,}/u,
  0.7,
];
