import { folded, words } from "../../index/words/words.ts";
import { NAME, OTHERS, overlap, Statement } from "../links/statement.ts";

/** A hit, as its place among others is decided. */
export interface Dated {
  readonly text: string;
  /** What hits are ordered by: the score of all legs, not bounded. */
  readonly rank: number;
  /** Since when it counts, milliseconds since the epoch. */
  readonly start: number;
}

/** Hits in another order. */
export interface Reordered {
  /** Positions of the hits, best first. */
  readonly order: readonly number[];
  /** Positions of a newer hit and of an older one that says something else about the same thing. */
  readonly conflicts: readonly (readonly [newer: number, older: number])[];
}

/**
 * A logistic model of whether a newer hit answers a question in the place of an older one. Fitted with
 * a ridge of 1 on the tuning part of the update test data, against facts that nothing replaced. `changeInField` was set by hand: fitted,
 * it would count statements that name no change as none. docs/recall.md has the figures.
 */
const WEIGHTS = {
  bias: -9.1,
  /** How far above unrelated hits the newer one stands, as a share of how far the older one does. */
  share: 2.1,
  /** How far above unrelated hits it stands. */
  above: 11.3,
  /** Score of the older one less that of the newer one. */
  gap: 0.35,
  /** Share of the words of the shorter text that both have. */
  overlap: 11.9,
  /** Whether both have words of one field of life. */
  field: 1.75,
  /** Whether the newer one says besides that something has changed. */
  changeInField: 3,
  /** Whether a number is asked for that the older one only has. */
  number: -6.9,
} as const;

/** Most that texts can add. */
const MOST = WEIGHTS.overlap + WEIGHTS.field + WEIGHTS.changeInField;
/** Odds, as a logarithm, from which the newer one comes first: a probability of 0.3. */
const LEAST = Math.log(0.3 / 0.7);
/** Place of the hit that is taken for an unrelated one, and its score where there are fewer. */
const UNRELATED = { place: 9, score: 0.3 };
/** Longer texts say more than one thing. */
const LONGEST = 400;
const MOST_SHARE = 1.5;
const LEAST_ABOVE = 0.02;

const ASKS_NUMBER =
  /\b(?:when|date|what time|which day|how (?:many|much|old|long|tall)|number|price|cost|wann|wie (?:viel|teuer|alt)|cuándo|cuánto)\b/iu;
/** Questions whose answer is somebody. */
const ASKS_WHO = /\b(?:who|whom|whose|name of|wer|wem|wen|quién|contact)\b/iu;
/** What a question asks, as far as it tells two statements apart. */
class Question {
  readonly #text: string;
  readonly #names: ReadonlySet<string>;
  readonly #asksNumber: boolean;
  readonly #asksWho: boolean;

  constructor(text: string) {
    this.#text = text.toLowerCase();
    const named = [...text.match(NAME) ?? [], ...text.match(OTHERS) ?? []];
    this.#names = new Set(named.flatMap((name) => words(folded(name))));
    this.#asksNumber = ASKS_NUMBER.test(text);
    this.#asksWho = ASKS_WHO.test(text);
  }

  /** What the texts add to the odds that the newer statement answers in the older one's place. */
  odds(older: Statement, newer: Statement): number {
    // What stands for the words there is shared by most texts.
    if (!older.isSpaced || !newer.isSpaced) return -Infinity;
    // Whoever is asked about has to be in both of them.
    const isMissing = (word: string) => older.words.has(word) && !newer.words.has(word);
    if ([...this.#names].some(isMissing)) return -Infinity;
    if (!this.#asksWho && this.#isAboutOthers(older, newer)) return -Infinity;
    const missesNumber = this.#asksNumber && older.hasNumber && !newer.hasNumber;
    const inField = older.fields.some((field) => newer.fields.includes(field));
    const inWords = overlap(older.words, newer.words);
    // Scores alone tell nothing of what two statements are about.
    if (inWords === 0 && !inField) return -Infinity;
    if (inWords === 1 && older.words.size === newer.words.size) return -Infinity;
    return WEIGHTS.overlap * inWords +
      WEIGHTS.field * Number(inField) +
      WEIGHTS.changeInField * Number(newer.isChange && inField) +
      WEIGHTS.number * Number(missesNumber);
  }

  /** Whether one of them is about somebody whom neither the other one nor the question names. */
  #isAboutOthers(older: Statement, newer: Statement): boolean {
    const isOnly = (word: string, other: Statement) =>
      !other.mentions(word) && !this.#text.includes(word);
    return newer.subjects.some((word) => isOnly(word, older)) ||
      older.subjects.some((word) => isOnly(word, newer));
  }
}

/** What the scores add to the odds. */
function oddsOfScores(older: number, newer: number, unrelated: number): number {
  const above = newer - unrelated;
  const share = above / Math.max(LEAST_ABOVE, older - unrelated);
  return WEIGHTS.bias + WEIGHTS.share * Math.min(MOST_SHARE, Math.max(-1, share)) +
    WEIGHTS.above * above + WEIGHTS.gap * (older - newer);
}

/** What an unrelated hit scores, by the ranks of hits, best first. */
function unrelatedOf(ranks: readonly number[]): number {
  return ranks[UNRELATED.place] ?? Math.min(UNRELATED.score, ranks.at(-1) ?? 0);
}

/**
 * How many of some hits are worth looking at where so many are answered: those behind that no text can
 * bring up are not.
 *
 * @param ranks What the hits are ordered by, best first.
 */
export function worthReading(ranks: readonly number[], answered: number): number {
  const unrelated = unrelatedOf(ranks);
  const [best = 0] = ranks;
  const last = ranks.findLastIndex((rank) => oddsOfScores(best, rank, unrelated) + MOST >= LEAST);
  return Math.max(Math.min(answered, ranks.length), last + 1);
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
  query: string,
  hits: readonly Dated[],
  isConflict: (newer: number, older: number) => boolean | undefined = () => undefined,
): Reordered {
  const question = new Question(query);
  const statements: Statement[] = [];
  const statement = (at: number) => statements[at] ??= new Statement(hits[at]!.text);
  const unrelated = unrelatedOf(hits.map(({ rank }) => rank));
  const conflicts: [number, number][] = [];
  const takesPlace = (newer: number, older: number): boolean => {
    const [a, b] = [hits[newer]!, hits[older]!];
    if (a.start <= b.start) return false;
    const known = isConflict(newer, older);
    if (known === true) conflicts.push([newer, older]);
    if (known !== undefined) return known;
    if (a.text.length > LONGEST || b.text.length > LONGEST) return false;
    const odds = oddsOfScores(b.rank, a.rank, unrelated);
    // Most hits are too far apart, whatever they say.
    if (odds + MOST < LEAST) return false;
    if (odds + question.odds(statement(older), statement(newer)) < LEAST) return false;
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
