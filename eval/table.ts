import {
  gainInterval,
  interval,
  type Quality,
  quality,
  seeded,
} from "../cli/memories/eval/ranks.ts";
import { useLiteEmbedder } from "../plugins/use_lite/mod.ts";
import type { Embedder } from "../src/interfaces/mod.ts";
import { type Conversation, readConversations } from "./conversation_set.ts";
import { conversationRanks } from "./conversations.ts";
import { embedderIn, LANGUAGES, languageStore, ranksOf } from "./languages.ts";
import { print } from "./print.ts";
import { type FactStore, readQuerySet } from "./query_set.ts";
import { RememberingEmbedder } from "./remembering.ts";

const HELP = `deno task eval table [--held-out] [--onnx FOLDER] [--save FILE] [--against FILE]

  Every set of questions by every leg of recall, in one table, with 95 % intervals.
  --held-out   the held-out sets instead: at checkpoints, not while tuning
  --onnx       with a model that \`svc model get\` fetched: its folder
  --save       keeps the ranks, to compare with
  --against    how much better than what was kept: of another commit, or of another embedder
`;

const LEGS = ["hybrid", "meaning", "words", "letters"] as const;
type Leg = typeof LEGS[number];

/** Ranks of right answers by leg, each in the order of the set's questions. */
type LegRanks = Readonly<Record<Leg, readonly number[]>>;

/** What a run found. */
export interface Results {
  /** Model of the embedder. */
  readonly model: string;
  /** By the name of the set. */
  readonly sets: Readonly<Record<string, LegRanks>>;
}

const MEASURES = {
  "hit@1": ({ hit1 }: Quality) => hit1,
  "hit@5": ({ hit5 }: Quality) => hit5,
  "recall@10": ({ recall10 }: Quality) => recall10,
} as const;
type Measure = keyof typeof MEASURES;
const NAMES = Object.keys(MEASURES) as Measure[];
const WIDTH = 24;

/** Conversations in one namespace, each question with what answers it. */
function storeOf(conversations: readonly Conversation[], kind: "turns" | "facts"): FactStore {
  const facts = conversations.flatMap((conversation) =>
    conversation[kind].map(({ text }, place) => ({
      fact: text,
      queries: conversation.questions
        .filter(({ turn, fact }) => (kind === "turns" ? turn : fact) === place)
        .map((question) => question.text),
    }))
  );
  return { who: kind, facts };
}

async function storesRanks(embedder: Embedder, stores: readonly FactStore[]): Promise<LegRanks> {
  const all: Record<Leg, number[]> = { hybrid: [], meaning: [], words: [], letters: [] };
  for (const store of stores) {
    const ranks = await ranksOf(embedder, store, () => {});
    for (const leg of LEGS) all[leg].push(...ranks[leg]);
  }
  return all;
}

/** Asks every set. */
async function measure(embedder: Embedder, isHeldOut: boolean): Promise<Results> {
  const sets: Record<string, LegRanks> = {};
  const english = isHeldOut ? ["held_out"] : ["personal", "development"];
  sets.English = await storesRanks(embedder, (await readQuerySet("", english)).stores);
  for (const name of LANGUAGES) {
    sets[name] = await storesRanks(embedder, [await languageStore(name, isHeldOut)]);
  }
  // Labels are for tuning only.
  for (const name of isHeldOut ? [] : ["ko", "de", "es"]) {
    const { stores } = await readQuerySet(name, [`labels_${name}`]);
    sets[`label ${name}`] = await storesRanks(embedder, stores);
  }
  const conversations = await readConversations(isHeldOut ? "held_out" : "tuning");
  for (const kind of ["turns", "facts"] as const) {
    const remembering = new RememberingEmbedder(embedder);
    const ranks = await storesRanks(remembering, [storeOf(conversations, kind)]);
    const { inContext } = await conversationRanks(remembering, conversations, kind, true);
    sets[kind] = { ...ranks, hybrid: inContext };
  }
  return { model: embedder.model, sets };
}

/** A gain whose interval does not hold 0 is marked. */
function gainCell(before: readonly number[], after: readonly number[], name: Measure): string {
  const [low, high] = gainInterval(before, after, MEASURES[name], seeded());
  const mark = low > 0 || high < 0 ? " *" : "  ";
  const gain = MEASURES[name](quality(after)) - MEASURES[name](quality(before));
  return `${gain.toFixed(1)} (${low.toFixed(1)} to ${high.toFixed(1)})${mark}`.padStart(WIDTH);
}

function cell(ranks: readonly number[], name: Measure): string {
  const [low, high] = interval(ranks, MEASURES[name], seeded());
  const value = MEASURES[name](quality(ranks)).toFixed(1);
  return `${value} (${low.toFixed(1)} to ${high.toFixed(1)})`.padStart(WIDTH);
}

/**
 * Lines of the table: a set and a leg each, or, against another run, how much better each is.
 *
 * @throws {Error} where the other run asked other questions.
 */
export function tableOf({ sets }: Results, against?: Results): string[] {
  const head = NAMES.map((name) => name.padStart(WIDTH)).join("");
  // A set that was added since is in no other run.
  const shared = Object.entries(sets)
    .filter(([set]) => against === undefined || against.sets[set] !== undefined);
  const lines = shared.flatMap(([set, byLeg]) =>
    LEGS.map((leg) => {
      const ranks = byLeg[leg];
      const before = against?.sets[set]?.[leg];
      if (against !== undefined && before?.length !== ranks.length) {
        throw new Error(`${set}: other questions were asked`);
      }
      const cells = NAMES.map((name) =>
        before === undefined ? cell(ranks, name) : gainCell(before, ranks, name)
      );
      return `${set.padEnd(9)} ${String(ranks.length).padStart(4)}  ${leg.padEnd(8)}${
        cells.join("")
      }`;
    })
  );
  return [`set       asked leg     ${head}`, ...lines];
}

/** What follows a flag; `undefined` without it. */
function valueOf(args: readonly string[], flag: string): string | undefined {
  const at = args.indexOf(flag);
  return at < 0 ? undefined : args[at + 1] ?? "";
}

/** Prints the table; answers the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const [folder, save, against] = ["--onnx", "--save", "--against"]
    .map((flag) => valueOf(args, flag));
  const known = ["--held-out", "--onnx", "--save", "--against", folder, save, against];
  if (args.some((arg) => !known.includes(arg)) || [folder, save, against].includes("")) {
    print(HELP);
    return args.includes("--help") ? 0 : 2;
  }
  const before: Results | undefined = against === undefined
    ? undefined
    : JSON.parse(await Deno.readTextFile(against));
  await using embedder = folder === undefined ? useLiteEmbedder() : await embedderIn(folder);
  const results = await measure(embedder, args.includes("--held-out"));
  const which = before === undefined ? "" : `, less ${before.model}`;
  print(`${results.model}${which}; percent, and 95 % intervals`, ...tableOf(results));
  if (before !== undefined) {
    print("", `Gain, in points; * where the interval does not hold 0`, ...tableOf(results, before));
  }
  if (save !== undefined) await Deno.writeTextFile(save, `${JSON.stringify(results)}\n`);
  return 0;
}
