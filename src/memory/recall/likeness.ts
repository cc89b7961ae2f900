import type { Aspects } from "../../interfaces/mod.ts";

/** Hits among which a newer statement is looked for by vectors. */
export const LOOKED_AT = 12;

const BY_WORDS = [
  "sharedAsked",
  "sharedOther",
  "lost",
  "change",
  "otherSubject",
  "elsewhere",
] as const;

/** What words tell of an older and a newer hit, each 0 to 1; newer_first.ts says what it is. */
export type OfWords = Readonly<Record<typeof BY_WORDS[number], number>>;

/** A hit, as far as it is compared here. */
interface Compared {
  readonly rank: number;
  readonly cosine: number;
  readonly vector: Float32Array;
}

type Weighed =
  | keyof OfWords
  /** Cosine of the question and the newer one, and how far its score is behind. */
  | "cosine"
  | "gap"
  /** Cosine of both statements. */
  | "likeness"
  /** Products of aspects: of both statements, of the question and the newer one, and the older one. */
  | "same"
  | "asked"
  | "older";

/** The weights of a logistic regression: trained with the aspects by eval/training/aspects.py. */
const WEIGHTS: Readonly<Record<Weighed | "constant", number>> = {
  constant: -10.059,
  cosine: 5.212,
  gap: -4.028,
  sharedAsked: 4.265,
  sharedOther: 1.026,
  lost: 2.208,
  change: 0.794,
  otherSubject: -1.336,
  elsewhere: -0.174,
  likeness: 6.473,
  same: 0.980,
  asked: 2.598,
  older: -0.956,
};

/** Most that words can add. */
const MOST = BY_WORDS.reduce((sum, name) => sum + Math.max(0, WEIGHTS[name]), 0);

/** Odds, as a logarithm, from which the newer one comes first. */
const LEAST = -0.3;

function product(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

/** Tells by vectors, scores and words what answers a question in the place of what. */
export class Likeness {
  readonly #aspects: Aspects;
  readonly #asked: Float32Array;
  readonly #statements = new Map<Float32Array, Float32Array>();

  /** @param question Vector of the question. */
  constructor(question: Float32Array, aspects: Aspects) {
    this.#aspects = aspects;
    this.#asked = aspects.question(question);
  }

  /**
   * Whether the newer of two hits answers in the older one's place.
   *
   * @param told What words tell, asked for where that may decide; `undefined` where the newer one cannot
   * answer.
   */
  takesPlace(older: Compared, newer: Compared, told: () => OfWords | undefined): boolean {
    const [a, b] = [this.#statement(older.vector), this.#statement(newer.vector)];
    const odds = WEIGHTS.constant + WEIGHTS.cosine * newer.cosine +
      WEIGHTS.gap * (older.rank - newer.rank) +
      WEIGHTS.likeness * product(older.vector, newer.vector) + WEIGHTS.same * product(a, b) +
      WEIGHTS.asked * product(this.#asked, b) + WEIGHTS.older * product(this.#asked, a);
    if (odds + MOST < LEAST) return false;
    const words = told();
    if (words === undefined) return false;
    return BY_WORDS.reduce((sum, name) => sum + WEIGHTS[name] * words[name], odds) >= LEAST;
  }

  #statement(vector: Float32Array): Float32Array {
    return this.#statements.getOrInsertComputed(vector, () => this.#aspects.statement(vector));
  }
}
