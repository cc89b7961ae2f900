import { folded, words } from "../../index/words/words.ts";
import type { Aspects } from "../../interfaces/mod.ts";
import { fieldsOf, OTHERS, Statement } from "../links/statement.ts";
import { Likeness, LOOKED_AT, type OfWords } from "./likeness.ts";

/** A hit, as its place among others is decided. */
export interface Dated {
  readonly text: string;
  /** What hits are ordered by: the score of all legs, not bounded. */
  readonly rank: number;
  /** Cosine of the query and the text. */
  readonly cosine: number;
  /** Since when it counts, milliseconds since the epoch. */
  readonly start: number;
  /** Of the text, where it has one alone. */
  readonly vector?: Float32Array | undefined;
}

/** Hits in another order. */
export interface Reordered {
  /** Positions of the hits, best first. */
  readonly order: readonly number[];
  /** Positions of a newer hit and of an older one that says something else about the same thing. */
  readonly conflicts: readonly (readonly [newer: number, older: number])[];
}

/** What tells whether a newer statement answers a question in an older one's place. */
export interface Features {
  /** Cosine of the question and the newer one. */
  readonly cosine: number;
  /** Score of the older one less that of the newer one. */
  readonly gap: number;
  /** Words of the question that both have, as a share of the words of the shorter one. */
  readonly sharedAsked: number;
  /** Other words that both have, as the same share. */
  readonly sharedOther: number;
  /** Share of the question's words that only the older one has: they made its score, not its sense. */
  readonly lost: number;
  /** 1 where the newer one says that something has changed. */
  readonly change: number;
  /**
   * 1 where one is about a relative or a friend, or the newer one about somebody's something ("Ida's
   * car"), that neither the other one nor the question names.
   */
  readonly otherSubject: number;
}

/** The weights of a logistic regression. */
export type Weights = Readonly<Record<keyof Features | "constant", number>>;

/**
 * Fitted by `deno task eval updates --fit` to the tuning statements, against facts that nothing
 * replaced; a test repeats it.
 */
export const WEIGHTS: Weights = {
  constant: -5.56,
  cosine: 7.47,
  gap: -7.68,
  sharedAsked: 7.13,
  sharedOther: 5.58,
  lost: 3.31,
  change: 0.71,
  otherSubject: -2.35,
};

/** Most that words can add. */
const MOST = WEIGHTS.sharedAsked + WEIGHTS.lost + WEIGHTS.change;
/** Odds, as a logarithm, from which the newer one comes first. */
const LEAST = -0.6;
/** Longer texts say more than one thing. */
const LONGEST = 400;
/** Where the embedder knows less of a question, all texts look alike to it, */
const LEAST_KNOWN = 0.8;
/** and statements have to share as many of their words. */
const LEAST_SHARED = 0.3;

/** A number, also one with letters, looked for once in each run of them; or a name. */
const NAME = /(?<![\p{L}\p{N}-])[\p{L}\p{N}-]*\p{N}[\p{L}\p{N}-]*|\p{Lu}[\p{L}\p{M}-]+/gu;

/** Somebody's something at the beginning. */
const OWNED =
  /^\W*(?:the )?(?!(?:it|he|she|that|there|here|who|what|let)['’])[\p{L}\p{M}-]+['’]s? +([\p{L}\p{M}-]+)/u;
/** Questions whose answer is somebody. */
const ASKS_WHO = /\b(?:who|whom|whose|name of|wer|wem|wen|quién|contact)\b/iu;
/** Words that tell nothing: of assistants, who call the one who speaks so; German, Spanish, French. */
const FILLERS = new Set(
  ("user der die das den dem des ein eine einen einem und ist sind ich mein meine wir unser unsere zu " +
    "mit von vom auf im aus fur el los las un una uno es son y mi mis que por con se su al del de la " +
    "lo en para le les et est je ma mon nous du dans pour sur une").split(" "),
);

/** Words of a text that tell something. */
function told(text: string): Set<string> {
  return new Set(words(folded(text)).filter((word) => !FILLERS.has(word)));
}

/** What a statement tells, as far as it is compared with a question. */
class Told extends Statement {
  readonly told: ReadonlySet<string>;
  /** What the statement begins with, where it is somebody's. */
  readonly owned: string | undefined;

  constructor(text: string) {
    super(text);
    this.told = told(text);
    this.owned = text.toLowerCase().match(OWNED)?.[1];
  }
}

/** What is asked. */
export interface Asked {
  readonly text: string;
  /** Share of it that the embedder knows, 0 to 1. */
  readonly known: number;
  readonly vector?: Float32Array | undefined;
  /** Of the embedder; without them or a vector, scores and words decide. */
  readonly aspects?: Aspects | undefined;
}

/** What words tell, and whether they alone would let the newer one answer. */
interface Compared {
  readonly told: OfWords;
  /** Whether words tell that both are about the same thing. */
  readonly isRelated: boolean;
}

const TOKEN = /[\p{L}\p{M}\p{N}]+(?:['’][\p{L}]+)?/gu;

/** A word of a question, in the forms it is compared in, and the fields of life it tells of. */
interface Token {
  readonly words: readonly string[];
  readonly fields: readonly number[];
}

/** What a question asks, as far as it tells two statements apart. */
class Question {
  readonly #text: string;
  readonly #leastShared: number;
  readonly #words: ReadonlySet<string>;
  /** Those that stand for one person or thing alone. */
  readonly #names: ReadonlySet<string>;
  readonly #asksWho: boolean;
  readonly #tokens: readonly Token[];

  constructor({ text, known }: Asked) {
    this.#text = text.toLowerCase();
    this.#leastShared = known < LEAST_KNOWN ? LEAST_SHARED : 0;
    this.#words = told(text);
    this.#tokens = (text.match(TOKEN) ?? [])
      .map((token) => ({ words: [...told(token)], fields: fieldsOf(token) }));
    const named = [NAME, OTHERS].flatMap((expression) => text.match(expression) ?? []);
    this.#names = new Set(named.flatMap((name) => words(folded(name))));
    this.#asksWho = ASKS_WHO.test(text);
  }

  /** What words tell; nothing where the newer one is not about what is asked for. */
  compare(older: Told, newer: Told): Compared | undefined {
    // What stands for the words there is shared by most texts.
    if (!older.isSpaced || !newer.isSpaced) return undefined;
    const isLost = (word: string): boolean => older.told.has(word) && !newer.told.has(word);
    // Whoever is asked about has to be in both of them.
    if ([...this.#names].some(isLost)) return undefined;
    // Another word may have taken the place of "live", and none that of "goddaughter".
    const isElsewhere = ({ words, fields }: Token): boolean =>
      words.some(isLost) && !fields.some((field) => newer.fields.includes(field));
    const elsewhere = this.#tokens.some(isElsewhere);
    const shared = [...older.told].filter((word) => newer.told.has(word));
    // Scores alone tell nothing of what two statements are about.
    const isOneField = older.fields.some((field) => newer.fields.includes(field));
    // What says the same takes no place.
    if (shared.length === older.told.size && shared.length === newer.told.size) return undefined;
    const asked = shared.filter((word) => this.#words.has(word)).length;
    const size = Math.max(1, Math.min(older.told.size, newer.told.size));
    if (shared.length / size < this.#leastShared) return undefined;
    const told = {
      sharedAsked: asked / size,
      sharedOther: (shared.length - asked) / size,
      lost: [...this.#words].filter(isLost).length / Math.max(1, this.#words.size),
      change: Number(newer.isChange),
      otherSubject: Number(this.#differ(older, newer)),
      // Whether a word that the older one has has no counterpart in the newer one.
      elsewhere: Number(elsewhere),
    };
    const isRelated = (newer.isChange || !elsewhere) && (shared.length > 0 || isOneField);
    return { told, isRelated };
  }

  /** Whether one of them is about somebody or something else. */
  #differ(older: Told, newer: Told): boolean {
    const isOnly = (word: string, other: Told) =>
      !other.mentions(word) && !this.#text.includes(word);
    if (newer.owned !== undefined && isOnly(newer.owned, older)) return true;
    return !this.#asksWho &&
      (newer.subjects.some((word) => isOnly(word, older)) ||
        older.subjects.some((word) => isOnly(word, newer)));
  }
}

/** Compares the hits of one query. */
class Comparison {
  readonly #asked: Asked;
  /** Read when two hits are close enough to be compared. */
  #question: Question | undefined;
  readonly #likeness: Likeness | undefined;
  readonly #statements = new Map<Dated, Told>();

  constructor(asked: Asked) {
    const { vector, aspects } = asked;
    this.#asked = asked;
    this.#likeness = vector && aspects && new Likeness(vector, aspects);
  }

  /** What is weighed without vectors; nothing where the newer one cannot answer. */
  features(older: Dated, newer: Dated): Features | undefined {
    const compared = this.#compare(older, newer);
    return compared?.isRelated ? featuresFrom(older, newer, compared) : undefined;
  }

  /** What words tell; nothing where the newer one cannot answer. */
  told(older: Dated, newer: Dated): OfWords | undefined {
    return this.#compare(older, newer)?.told;
  }

  /** Whether the newer one answers in the older one's place. */
  takesPlace(older: Dated, newer: Dated): boolean {
    if (this.#likeness !== undefined && hasVector(older) && hasVector(newer)) {
      return this.#likeness.takesPlace(older, newer, () => this.told(older, newer));
    }
    // Most hits are too far apart, whatever they say.
    if (oddsOfScores(older, newer) + MOST < LEAST) return false;
    const features = this.features(older, newer);
    return features !== undefined && oddsOf(features) >= LEAST;
  }

  #compare(older: Dated, newer: Dated): Compared | undefined {
    this.#question ??= new Question(this.#asked);
    return this.#question.compare(this.#statement(older), this.#statement(newer));
  }

  #statement(hit: Dated): Told {
    return this.#statements.getOrInsertComputed(hit, ({ text }) => new Told(text));
  }
}

type WithVector = Dated & { readonly vector: Float32Array };

function hasVector(hit: Dated): hit is WithVector {
  return hit.vector !== undefined;
}

function featuresFrom(older: Dated, newer: Dated, { told }: Compared): Features {
  const { elsewhere: _, ...words } = told;
  return { cosine: newer.cosine, gap: older.rank - newer.rank, ...words };
}

/** What is weighed for an older and a newer hit; nothing where the newer one cannot answer. */
export function featuresOf(asked: Asked, older: Dated, newer: Dated): Features | undefined {
  return new Comparison(asked).features(older, newer);
}

/** What their words tell, likewise. */
export function toldOf(asked: Asked, older: Dated, newer: Dated): OfWords | undefined {
  return new Comparison(asked).told(older, newer);
}

type Ranked = Pick<Dated, "rank" | "cosine">;

/** What the scores add to the odds. */
function oddsOfScores(older: Ranked, newer: Ranked): number {
  return WEIGHTS.constant + WEIGHTS.cosine * newer.cosine +
    WEIGHTS.gap * (older.rank - newer.rank);
}

function oddsOf(features: Features): number {
  let odds = WEIGHTS.constant;
  for (const name of Object.keys(features) as (keyof Features)[]) {
    odds += WEIGHTS[name] * features[name];
  }
  return odds;
}

/**
 * How many of some hits are worth looking at where so many are answered: those behind that no text can
 * bring up are not.
 *
 * @param hits Best first.
 * @param byAspects Whether the embedder has aspects, which may bring up any of the first ones.
 */
export function worthReading(
  hits: readonly Ranked[],
  answered: number,
  byAspects: boolean = false,
): number {
  if (byAspects) return Math.min(Math.max(answered, LOOKED_AT), hits.length);
  const last = hits.findLastIndex((hit) => oddsOfScores(hits[0]!, hit) + MOST >= LEAST);
  return Math.max(Math.min(answered, hits.length), last + 1);
}

/**
 * The order in which hits answer a question: of two that say something about the same thing the newer
 * comes first, directly before the other. Unrelated hits keep their places, however new they are.
 *
 * @param hits Best first.
 * @param isConflict Whether a hit is known to say something else than an older one about the same thing;
 * `undefined` where nobody knows.
 */
export function newerFirst(
  asked: Asked,
  hits: readonly Dated[],
  isConflict: (newer: number, older: number) => boolean | undefined = () => undefined,
): Reordered {
  const comparison = new Comparison(asked);
  const conflicts: [number, number][] = [];
  const takesPlace = (newer: number, older: number): boolean => {
    const [a, b] = [hits[newer]!, hits[older]!];
    if (a.start <= b.start) return false;
    const known = isConflict(newer, older);
    if (known === true) conflicts.push([newer, older]);
    if (known !== undefined) return known;
    if (a.text.length > LONGEST || b.text.length > LONGEST) return false;
    if (!comparison.takesPlace(b, a)) return false;
    conflicts.push([newer, older]);
    return true;
  };
  const order = hits.map((_, i) => i);
  for (let at = 1; at < order.length; at++) {
    const one = order[at]!;
    const place = order.findIndex((other, i) => i < at && takesPlace(one, other));
    if (place >= 0) order.splice(place, 0, ...order.splice(at, 1));
  }
  return { order, conflicts };
}
