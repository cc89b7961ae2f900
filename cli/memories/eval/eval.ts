import { onOneLine } from "../../../src/printable.ts";
import { CommandError, EXIT } from "../../io.ts";
import { clientOf, print, type Session } from "../../session.ts";
import { patiently } from "../patience.ts";
import { Progress } from "../progress.ts";
import { type AskedQuestion, isExpected, readQuestions } from "./question_file.ts";
import { interval, type Quality, quality, seeded } from "./ranks.ts";

/** What is compared: all of it, meaning alone, words alone. */
const MODES = ["hybrid", "semantic", "keyword"] as const;
type Mode = typeof MODES[number];

/** Hits that are looked at; a memory beyond counts as not found. */
const LOOKED_AT = 100;
/** A memory that is not among so many is missed. */
const FIRST = 10;

/** A measure, and its 95 % bootstrap interval, in percent. */
interface Measured {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

const MEASURES = {
  hit1: ({ hit1 }: Quality) => hit1,
  hit5: ({ hit5 }: Quality) => hit5,
  recall10: ({ recall10 }: Quality) => recall10,
  ndcg10: ({ ndcg10 }: Quality) => ndcg10,
} as const;

function measured(ranks: readonly number[]): Record<keyof typeof MEASURES, Measured> {
  const found = quality(ranks);
  const one = (measure: (quality: Quality) => number): Measured => {
    const [low, high] = interval(ranks, measure, seeded());
    return { value: measure(found), low, high };
  };
  return {
    hit1: one(MEASURES.hit1),
    hit5: one(MEASURES.hit5),
    recall10: one(MEASURES.recall10),
    ndcg10: one(MEASURES.ndcg10),
  };
}

/** Ranks of the expected memories by mode, in the order of the questions. */
async function ranksOf(
  session: Session,
  questions: readonly AskedQuestion[],
): Promise<Record<Mode, number[]>> {
  const { settings: { namespace }, io } = session;
  const client = clientOf(session);
  const progress = new Progress(io);
  const ranks: Record<Mode, number[]> = { hybrid: [], semantic: [], keyword: [] };
  for (const [i, asked] of questions.entries()) {
    for (const mode of MODES) {
      const { results } = await patiently(
        session,
        progress,
        () => client.recall(asked.question, { namespace, limit: LOOKED_AT, mode }),
      );
      const at = results.findIndex((hit) => isExpected(asked, hit));
      ranks[mode].push(at < 0 ? LOOKED_AT + 1 : at + 1);
    }
    progress.show(`${i + 1} of ${questions.length} questions`);
  }
  progress.clear();
  return ranks;
}

function table(ranks: Readonly<Record<Mode, readonly number[]>>): string {
  const cell = ({ value, low, high }: Measured): string =>
    `${value.toFixed(1)} (${low.toFixed(0)} to ${high.toFixed(0)})`.padStart(20);
  const lines = MODES.map((mode) => {
    const { hit1, hit5, recall10 } = measured(ranks[mode]);
    return `${mode.padEnd(10)}${[hit1, hit5, recall10].map(cell).join("")}\n`;
  });
  const head = ["first", "among 5", "among 10"].map((name) => name.padStart(20)).join("");
  return `${"".padEnd(10)}${head}\n${lines.join("")}`;
}

/**
 * Measures recall on questions of the user's own, whose right memories a file names.
 *
 * @throws {CommandError} where there is no file, or it is none.
 */
export async function evaluate(session: Session): Promise<void> {
  const { line, settings: { namespace } } = session;
  const path = line.texts.questions;
  if (path === undefined) throw new CommandError(EXIT.usage, "Which file? --questions <file>");
  const questions = await readQuestions(path);
  const ranks = await ranksOf(session, questions);
  const missed = questions.flatMap(({ question, expected }, i) => {
    const rank = ranks.hybrid[i]!;
    if (rank <= FIRST) return [];
    return [{ question, expected, ...(rank > LOOKED_AT ? {} : { rank }) }];
  });
  const modes = MODES.map((mode) => ({ mode, ...measured(ranks[mode]) }));
  const count = questions.length === 1 ? "One question" : `${questions.length} questions`;
  const misses = missed.map(({ question, expected, rank }) =>
    `  ${rank === undefined ? "not found" : `place ${rank}`}: ${onOneLine(question)} => ${
      onOneLine(expected)
    }\n`
  );
  const head = missed.length === 0 ? "" : `\nNot among the first ten of hybrid:\n`;
  print(
    session,
    {
      questions: questions.length,
      ...(namespace === undefined ? {} : { namespace }),
      modes,
      missed,
    },
    `${count}; percent, and their 95 % intervals:\n\n${table(ranks)}${head}${misses.join("")}`,
  );
}
