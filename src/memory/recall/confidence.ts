import { folded, words } from "../../index/words/words.ts";
import type { Question } from "./answer_kinds.ts";

/** What a recall compares: meaning and words, meaning alone, words alone. */
export type RecallMode = "hybrid" | "semantic" | "keyword";

/** What is known about a hit when it is ranked and opened. */
export interface Evidence {
  readonly question: Question;
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

/** That of a word which stands once in a text of twice the usual length. */
const FULL_COVERAGE = 0.85;

/** Longer texts have less of a word's coverage: there each word of the query is looked for. */
const LONG_TEXT = 200;
/** Characters of a text that are looked through, as many as are indexed. */
const READ_CHARACTERS = 65_536;
/** Characters of a query that may be looked for. */
const LOOK_UP_CHARACTERS = 500;

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
  /** 1 where hardly a word of the query is missing: a name that is looked up, for example. */
  readonly fullCoverage: number;
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
    constant: 1.389,
    closeness: 16.936,
    unknown: -1.494,
    unknownCloseness: -11.001,
    coverage: -0.77,
    halfCoverage: -0.398,
    fullCoverage: 7.158,
    behind: -14.858,
    lacksAnswer: -1.894,
    among: -0.805,
  },
  semantic: {
    constant: 1.247,
    closeness: 15.747,
    unknown: -0.39,
    unknownCloseness: -11.904,
    coverage: 0,
    halfCoverage: 0,
    fullCoverage: 0,
    behind: -17.603,
    lacksAnswer: -2.241,
    among: -0.765,
  },
  keyword: {
    constant: 0.289,
    closeness: 0,
    unknown: 0,
    unknownCloseness: 0,
    coverage: 6.647,
    halfCoverage: 0.233,
    fullCoverage: 0.699,
    behind: -6.353,
    lacksAnswer: -3.097,
    among: -1.129,
  },
};

function isCovered({ question, text, coverage }: Evidence): boolean {
  if (coverage >= FULL_COVERAGE) return true;
  if (coverage === 0 || text.length <= LONG_TEXT || question.text.length > LOOK_UP_CHARACTERS) {
    return false;
  }
  const plain = folded(text.slice(0, READ_CHARACTERS));
  return words(folded(question.text)).every((word) => plain.includes(word));
}

/** The features of a hit. */
export function featuresOf(evidence: Evidence): Features {
  const { question, text, closeness, known, coverage, behind, among } = evidence;
  return {
    closeness,
    unknown: 1 - known,
    unknownCloseness: (1 - known) * closeness,
    coverage,
    halfCoverage: 4 * coverage * (1 - coverage),
    fullCoverage: Number(isCovered(evidence)),
    behind,
    lacksAnswer: Number(question.isLackedBy(text)),
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
