import { lacksAnswer } from "./answer_kinds.ts";

/** What a recall compares: meaning and words, meaning alone, words alone. */
export type RecallMode = "hybrid" | "semantic" | "keyword";

/** What is known about a hit when it is ranked and opened. */
export interface Evidence {
  readonly query: string;
  readonly text: string;
  /** Cosine of query and memory, less the one from which memories answer; 0 in a keyword search. */
  readonly closeness: number;
  /** Share of the query that the embedder knows, 0 to 1. */
  readonly known: number;
  /** Share of the query's words, by what they tell, that the text has; 0 in a semantic search. */
  readonly coverage: number;
  /** How much better the best hit's score is, 0 or more. */
  readonly behind: number;
  /** How many memories were compared. */
  readonly among: number;
}

/** Where there are more memories, each is no less likely to answer: data ends here. */
const MOST_AMONG = 60;

/** What the model weighs, by name. */
export interface Features {
  readonly closeness: number;
  /** Share of the query that the embedder does not know. */
  readonly unknown: number;
  /** The closeness as far as it says little. */
  readonly unknownCloseness: number;
  readonly coverage: number;
  /** 1 where half of the query is found: the thing, but not what is asked about it. */
  readonly halfCoverage: number;
  readonly behind: number;
  /** 1 where a number, a time, a name or a place is asked for, and the text has none. */
  readonly lacksAnswer: number;
  /** Natural logarithm of the number of memories. */
  readonly among: number;
}

/** The weights of a logistic regression. */
export type Weights = Readonly<Record<keyof Features | "constant", number>>;

/**
 * Fitted by `deno task eval silence --fit` to the tuning questions, in whole stores and in smaller
 * ones; a test repeats it.
 */
export const WEIGHTS: Readonly<Record<RecallMode, Weights>> = {
  hybrid: {
    constant: 1.388,
    closeness: 16.789,
    unknown: -1.241,
    unknownCloseness: -10.086,
    coverage: 2.766,
    halfCoverage: -1.958,
    behind: -14.629,
    lacksAnswer: -2.116,
    among: -0.806,
  },
  semantic: {
    constant: 1.295,
    closeness: 15.957,
    unknown: -0.607,
    unknownCloseness: -11.711,
    coverage: 0,
    halfCoverage: 0,
    behind: -18.527,
    lacksAnswer: -2.216,
    among: -0.785,
  },
  keyword: {
    constant: 0.263,
    closeness: 0,
    unknown: 0,
    unknownCloseness: 0,
    coverage: 7.072,
    halfCoverage: 0.08,
    behind: -6.524,
    lacksAnswer: -3.006,
    among: -1.135,
  },
};

/** The features of a hit. */
export function featuresOf(evidence: Evidence): Features {
  const { query, text, closeness, known, coverage, behind, among } = evidence;
  return {
    closeness,
    unknown: 1 - known,
    unknownCloseness: (1 - known) * closeness,
    coverage,
    halfCoverage: 4 * coverage * (1 - coverage),
    behind,
    lacksAnswer: Number(lacksAnswer(query, text)),
    among: Math.log(Math.min(among, MOST_AMONG)),
  };
}

/**
 * The probability that a memory answers a query, 0 to 1 in three decimals: of ten hits with 0.3
 * about three do. It rests on questions of which about half had an answer.
 */
export function confidenceOf(mode: RecallMode, evidence: Evidence): number {
  const weights = WEIGHTS[mode];
  const features = featuresOf(evidence);
  let sum = weights.constant;
  for (const name of Object.keys(features) as (keyof Features)[]) {
    sum += weights[name] * features[name];
  }
  return Math.round(1000 / (1 + Math.exp(-sum))) / 1000;
}
