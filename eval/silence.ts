import { useLiteEmbedder } from "../plugins/use_lite/mod.ts";
import { closeEnough, shown } from "../src/close_enough.ts";
import {
  confidenceOf,
  type Features,
  featuresOf,
  type RecallMode,
  WEIGHTS,
  type Weights,
} from "../src/memory/recall/confidence.ts";
import { fitLogistic, type Observation } from "./logistic.ts";
import { print } from "./print.ts";
import { calibrationError, type Forecast, reliability } from "./reliability.ts";
import {
  Asking,
  type Found,
  inSmallerStores,
  lookUps,
  type Question,
  readQuestions,
  readRetrieval,
} from "./silence_data.ts";

const HELP = `deno task eval silence [--held-out] [--fit]

  Whether recall is silent where no memory answers, on tests/testdata/silence, and whether its
  confidence is what it says.
  --held-out   also the held-out questions: at checkpoints, not while tuning
  --fit        the weights that the tuning questions give
`;

const MODES: readonly RecallMode[] = ["hybrid", "semantic", "keyword"];
/** What is seen while tuning; the weights are fitted to the first. */
const TUNING = ["tuning", "styles_tuning"] as const;
const RETRIEVAL = ["personal", "development"];
/** Memories of the smaller stores that the weights are fitted on besides the whole ones. */
const SIZES = [1, 2, 4, 8, 16, 30];
/** How often a question counts that is asked in several smaller stores, or with its fact and without. */
const OF_SMALLER = 0.25;
const OF_RETRIEVAL = 0.5;
/** Every name of a store is looked up: more often than people do. */
const OF_LOOK_UPS = 0.1;

interface RatedHit {
  readonly confidence: number;
  readonly isRight: boolean;
}

function rated({ hits }: Found, mode: RecallMode): RatedHit[] {
  return hits.map(({ evidence, isRight }) => ({
    confidence: confidenceOf(mode, evidence),
    isRight,
  }));
}

function percent(count: number, of: number): string {
  return `${(100 * count / of).toFixed(1)} % (${count} of ${of})`;
}

/** What the default floor does to questions, and how far the confidence is off. */
function report(name: string, found: readonly Found[], mode: RecallMode): string[] {
  const answers = found.map((one) => ({ sort: one.sort, hits: rated(one, mode) }));
  const isRight = (hit: RatedHit): boolean => hit.isRight;
  const right = answers.filter(({ hits }) => hits.some(isRight));
  const kept = right.filter(({ hits }) => closeEnough(hits).some(isRight));
  const seen = right.filter(({ hits }) => {
    const { results, nearest } = shown(hits);
    return [...results, ...nearest].some(isRight);
  });
  const first = kept.filter(({ hits }) => closeEnough(hits)[0]!.isRight);
  const silence = (["far", "near"] as const).flatMap((sort) => {
    const asked = answers.filter((answer) => answer.sort === sort);
    const silent = asked.filter(({ hits }) => closeEnough(hits).length === 0);
    return asked.length === 0
      ? []
      : [`  nothing returned, ${sort.padEnd(20)} ${percent(silent.length, asked.length)}`];
  });
  const forecasts = (hits: readonly RatedHit[]): Forecast[] =>
    hits.map(({ confidence, isRight }) => ({ said: confidence, isTrue: isRight }));
  const firsts = forecasts(answers.flatMap(({ hits }) => hits.slice(0, 1)));
  const all = forecasts(answers.flatMap(({ hits }) => hits));
  const answerable = answers.filter(({ sort }) => sort === "answerable").length;
  return [
    `${name}, ${mode}`,
    `  right answer among ten hits            ${percent(right.length, answerable)}`,
    `  of these kept at the default floor     ${percent(kept.length, right.length)}`,
    `  or named as one of the two nearest     ${percent(seen.length, right.length)}`,
    `  first among those kept                 ${percent(first.length, kept.length)}`,
    ...silence,
    `  calibration error, first hits          ${calibrationError(firsts).toFixed(3)}`,
    `  calibration error, all hits            ${calibrationError(all).toFixed(3)}`,
    ...reliability(firsts),
  ];
}

const NAMES = Object.keys(WEIGHTS.hybrid).filter((name) => name !== "constant");

function observations(found: readonly Found[], weight: number): Observation[] {
  return found.flatMap(({ hits }) =>
    hits.map(({ evidence, isRight }) => {
      const features = featuresOf(evidence);
      return {
        features: NAMES.map((name) => features[name as keyof Features]),
        isTrue: isRight,
        weight,
      };
    })
  );
}

/** The weights that the tuning questions give, in three decimals. */
export async function fittedWeights(asking: Asking, mode: RecallMode): Promise<Weights> {
  const tuning = await readQuestions(TUNING[0]);
  const retrieval = await readRetrieval(RETRIEVAL);
  const parts: readonly (readonly [Question[], number])[] = [
    [tuning, 1],
    [inSmallerStores(tuning, SIZES), OF_SMALLER],
    [lookUps(tuning), OF_LOOK_UPS],
    [retrieval, OF_RETRIEVAL],
    [inSmallerStores(retrieval, SIZES), OF_SMALLER * OF_RETRIEVAL],
  ];
  const all: Observation[] = [];
  for (const [questions, weight] of parts) {
    all.push(...observations(await asking.ask(questions, mode), weight));
  }
  const rounded = fitLogistic(all).map((weight) => Math.round(1000 * weight) / 1000);
  const names = ["constant", ...NAMES] as readonly (keyof Weights)[];
  return Object.fromEntries(names.map((name, i) => [name, rounded[i]!])) as Weights;
}

/** Prints how silent recall is; answers the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  if (args.some((arg) => !["--held-out", "--fit"].includes(arg))) {
    print(HELP.trimEnd());
    return args.includes("--help") ? 0 : 2;
  }
  await using embedder = useLiteEmbedder();
  const asking = new Asking(embedder);
  if (args.includes("--fit")) {
    for (const mode of MODES) print(mode, JSON.stringify(await fittedWeights(asking, mode)));
    return 0;
  }
  const sets: [string, Question[]][] = [
    ...await Promise.all(
      TUNING.map(async (name): Promise<[string, Question[]]> => [name, await readQuestions(name)]),
    ),
    [RETRIEVAL.join(" and "), await readRetrieval(RETRIEVAL)],
  ];
  if (args.includes("--held-out")) sets.push(["held out", await readQuestions("held_out")]);
  for (const [name, questions] of sets) {
    for (const mode of MODES) {
      print(...report(name, await asking.ask(questions, mode), mode));
    }
  }
  return 0;
}
