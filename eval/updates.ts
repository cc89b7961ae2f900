import { uniform } from "../bench/statistics.ts";
import { useLiteEmbedder } from "../plugins/use_lite/mod.ts";
import type { Embedder } from "../src/interfaces/mod.ts";
import {
  type Asked,
  type Dated,
  type Features,
  featuresOf,
  newerFirst,
  WEIGHTS,
  type Weights,
} from "../src/memory/recall/newer_first.ts";
import { QueryVectors } from "../src/memory/recall/query_vectors.ts";
import { comparisons } from "./compare_store.ts";
import { fitLogistic, type Observation } from "./logistic.ts";
import { print } from "./print.ts";
import { type Fact, type FactStore, readQuerySet } from "./query_set.ts";
import { RememberingEmbedder } from "./remembering.ts";

const HELP = `deno task eval updates [--held-out] [--misses] [--fit]

  Whether recall puts what is true now before what it replaced, on tests/testdata/updates, and whether
  the time of unrelated facts changes what is found on tests/testdata/retrieval.
  --held-out   also the held-out items: at checkpoints, not while tuning
  --misses     the items whose first statement is a wrong one
  --fit        the weights that the tuning items give; fails where the product has others
`;

/** Hits that recall looks at: ten that are answered, and ten around them. */
const LOOKED_AT = 20;
/** Orders in which unrelated facts are said. */
const ORDERS = 5;
/** Of which the vectors are read. */
const WITH_VECTORS = 12;
const TUNING = ["tuning", "styles_tuning"];
const UNRELATED = ["personal", "development"];
/** Of the stores that the embedder was trained on, as many: their questions are easier for it. */
const EVERY_STORE = 10;
/** Hits behind the first one that are weighed as statements that replace nothing. */
const BEHIND = 7;
/** How often one of these counts, and a statement that looks like a newer one and is none. */
const OF_UNRELATED = 0.2;
const OF_CONTROLS = 2;

type Statements = readonly [first: string, ...later: string[]];

/** Statements about one thing in the order they were said, and which of them answers a question. */
export interface Update {
  readonly kind: string;
  readonly statements: Statements;
  readonly question: string;
  readonly right: readonly string[];
}

export interface UpdateSet {
  readonly updates: readonly Update[];
  readonly distractors: readonly string[];
}

/** What is found with a query, best first. */
export interface Found {
  readonly asked: Asked;
  /** The fact that carries the query. */
  readonly answer: string;
  readonly hits: readonly Omit<Dated, "start">[];
}

interface UpdatesFile {
  readonly pairs: readonly {
    readonly kind: string;
    readonly old: string;
    readonly new: string;
    readonly question: string;
    readonly right: "old" | "new" | "either";
  }[];
  readonly triples: readonly {
    readonly kind: string;
    readonly first: string;
    readonly second: string;
    readonly third: string;
    readonly question: string;
    readonly right: readonly ("first" | "second" | "third")[];
  }[];
  /** Those of the tuning items where absent. */
  readonly distractors?: readonly string[];
}

/** Reads a file of tests/testdata/updates. */
export async function readUpdates(name: string): Promise<UpdateSet> {
  const url = new URL(`../tests/testdata/updates/${name}.json`, import.meta.url);
  const file: UpdatesFile = JSON.parse(await Deno.readTextFile(url));
  const pairs = file.pairs.map((pair): Update => ({
    kind: pair.kind,
    statements: [pair.old, pair.new],
    question: pair.question,
    right: pair.right === "either" ? [pair.old, pair.new] : [pair[pair.right]],
  }));
  const triples = file.triples.map((triple): Update => ({
    kind: triple.kind,
    statements: [triple.first, triple.second, triple.third],
    question: triple.question,
    right: triple.right.map((name) => triple[name]),
  }));
  const distractors = file.distractors ?? (await readUpdates("tuning")).distractors;
  return { updates: [...pairs, ...triples], distractors };
}

/** Finds with the queries of a store; hits of one window have their vector. */
export async function* found(
  embedder: Embedder,
  queries: QueryVectors,
  store: FactStore,
): AsyncGenerator<Found> {
  const texts = store.facts.map(({ fact }) => fact);
  for await (
    const { query, answer, vector, documents, distances, fused } of comparisons(
      embedder,
      queries,
      store,
    )
  ) {
    const hits = texts.map((text, at) => ({ text, rank: fused[at]!, cosine: 1 - distances[at]! }))
      .map((hit, at) => documents[at]!.length === 1 ? { ...hit, vector: documents[at]![0] } : hit)
      .sort((a, b) => b.rank - a.rank).slice(0, LOOKED_AT);
    const { known } = await queries.get(query);
    const asked = { text: query, known, vector, aspects: embedder.aspects };
    yield { asked, answer: texts[answer]!, hits };
  }
}

/** The texts that are found, newer statements first. */
function ordered({ asked, hits }: Found, timeOf: (text: string) => number): string[] {
  const dated = hits.map(({ vector, ...hit }, i) => {
    return { ...hit, start: timeOf(hit.text), vector: i < WITH_VECTORS ? vector : undefined };
  });
  return newerFirst(asked, dated).order.map((at) => hits[at]!.text);
}

/** What is found with an item's question among its statements and the distractors. */
export async function foundFor(
  embedder: Embedder,
  queries: QueryVectors,
  { distractors }: Pick<UpdateSet, "distractors">,
  { statements: [first, ...later], question }: Pick<Update, "statements" | "question">,
): Promise<Found> {
  const others = [...distractors, ...later].map((fact): Fact => ({ fact, queries: [] }));
  // The first statement carries the question; all others are only compared.
  const store: FactStore = { who: "", facts: [{ fact: first, queries: [question] }, ...others] };
  for await (const one of found(embedder, queries, store)) return one;
  throw new Error("a question was not asked");
}

/** Whether the first of an item's statements that is found is a right one, before and after. */
async function judged(embedder: Embedder, queries: QueryVectors, set: UpdateSet, update: Update) {
  const { statements, right } = update;
  const one = await foundFor(embedder, queries, set, update);
  const random = uniform(1);
  const times = new Map(set.distractors.map((text) => [text, random() - 1]));
  statements.forEach((text, i) => times.set(text, i));
  const isRight = (texts: readonly string[]) => {
    const first = texts.find((text) => statements.includes(text));
    return first !== undefined && right.includes(first);
  };
  return {
    before: isRight(one.hits.map(({ text }) => text)),
    after: isRight(ordered(one, (text) => times.get(text)!)),
  };
}

/** What an older and a newer hit say, and whether the newer one takes the other's place. */
function observation(
  { asked, hits }: Found,
  [older, newer]: readonly [string, string],
  isTrue: boolean,
  weight: number,
): Observation[] {
  const dated = (text: string): Dated | undefined => {
    const hit = hits.find((hit) => hit.text === text);
    return hit && { ...hit, start: 0 };
  };
  const [a, b] = [dated(older), dated(newer)];
  const features = a && b && featuresOf(asked, a, b);
  if (features === undefined) return [];
  return [{ features: NAMES.map((name) => features[name]), isTrue, weight }];
}

/** Two statements, and whether the newer one takes the older one's place. */
export interface Labelled {
  readonly older: string;
  readonly newer: string;
  readonly isTrue: boolean;
  /** How often they count. */
  readonly weight: number;
}

/** Every two statements of an item of which not both are right. */
export function labelled({ kind, statements, right }: Update): Labelled[] {
  return statements.flatMap((older, i) =>
    statements.slice(i + 1).flatMap((newer): Labelled[] => {
      const wasRight = right.includes(older);
      const tells = wasRight ? !right.includes(newer) : right.includes(newer) || kind !== CONTROLS;
      return tells ? [{ older, newer, isTrue: !wasRight, weight: wasRight ? OF_CONTROLS : 1 }] : [];
    })
  );
}

const CONTROLS = "restated";
const NAMES = Object.keys(WEIGHTS)
  .filter((name): name is keyof Features => name !== "constant");

/** Stores whose facts are all true. */
async function readUnrelated(): Promise<FactStore[]> {
  const { stores } = await readQuerySet("unrelated", UNRELATED);
  const lines = await Deno.readTextFile(new URL("training/stores.jsonl", import.meta.url));
  const trained = lines.trim().split("\n").filter((_, i) => i % EVERY_STORE === 0)
    .map((line): FactStore => JSON.parse(line));
  return [...stores, ...trained];
}

/** The weights that the tuning items give, in two decimals. */
async function fittedWeights(embedder: Embedder): Promise<Weights> {
  const remembering = new RememberingEmbedder(embedder);
  const queries = new QueryVectors(embedder, 0, Date.now);
  const all: Observation[] = [];
  for (const name of TUNING) {
    const set = await readUpdates(name);
    for (const update of set.updates) {
      const one = await foundFor(remembering, queries, set, update);
      for (const { older, newer, isTrue, weight } of labelled(update)) {
        all.push(...observation(one, [older, newer], isTrue, weight));
      }
    }
  }
  for (const store of await readUnrelated()) {
    for await (const one of found(remembering, queries, store)) {
      if (one.hits[0]!.text !== one.answer) continue;
      for (const { text } of one.hits.slice(1, 1 + BEHIND)) {
        all.push(...observation(one, [one.answer, text], false, OF_UNRELATED));
      }
    }
  }
  const rounded = fitLogistic(all).map((weight) => Math.round(100 * weight) / 100);
  return Object.fromEntries(["constant", ...NAMES].map((name, i) => [name, rounded[i]!])) as Record<
    keyof Weights,
    number
  >;
}

/** How many items have a right statement first, by the score alone and with newer ones first. */
export async function measureUpdates(embedder: Embedder, name: string): Promise<{
  readonly items: number;
  readonly before: number;
  readonly after: number;
  readonly missed: readonly Update[];
}> {
  const set = await readUpdates(name);
  const remembering = new RememberingEmbedder(embedder);
  const queries = new QueryVectors(embedder, 0, Date.now);
  let before = 0;
  const missed: Update[] = [];
  for (const update of set.updates) {
    const result = await judged(remembering, queries, set, update);
    before += Number(result.before);
    if (!result.after) missed.push(update);
  }
  const items = set.updates.length;
  return { items, before, after: items - missed.length, missed };
}

/** Mean first hits of a query set, whose facts are said in several orders. */
export async function measureUnrelated(embedder: Embedder, file: string): Promise<{
  readonly before: number;
  readonly after: number;
}> {
  const queries = new QueryVectors(embedder, 0, Date.now);
  const { stores } = await readQuerySet(file, [file]);
  const randoms = Array.from({ length: ORDERS }, (_, order) => uniform(order + 1));
  let [before, after] = [0, 0];
  for (const store of stores) {
    const times = randoms.map((random) => new Map(store.facts.map(({ fact }) => [fact, random()])));
    for await (const one of found(embedder, queries, store)) {
      before += Number(one.hits[0]!.text === one.answer);
      for (const time of times) {
        const [first] = ordered(one, (text) => time.get(text)!);
        after += Number(first === one.answer) / ORDERS;
      }
    }
  }
  return { before, after };
}

/** Prints whether newer statements come first; answers the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  if (args.some((arg) => !["--held-out", "--misses", "--fit"].includes(arg))) {
    print(HELP);
    return args.includes("--help") ? 0 : 2;
  }
  await using embedder = useLiteEmbedder();
  if (args.includes("--fit")) {
    const fitted = await fittedWeights(embedder);
    print(JSON.stringify(fitted));
    // Kernels of other processors round otherwise.
    const isOff = (name: keyof Weights): boolean => Math.abs(fitted[name] - WEIGHTS[name]) >= 0.1;
    const off = (Object.keys(WEIGHTS) as (keyof Weights)[]).filter(isOff);
    if (off.length > 0) print(`The product has others: ${off.join(", ")}`);
    return off.length > 0 ? 1 : 0;
  }
  for (const name of args.includes("--held-out") ? [...TUNING, "held_out"] : TUNING) {
    const { items, before, after, missed } = await measureUpdates(embedder, name);
    print(
      `Updates, ${name}: the right statement first in ${after} of ${items}, by score ${before}`,
    );
    if (args.includes("--misses") && TUNING.includes(name)) {
      print(...missed.map(({ question, right }) => `  ${question}\n    ${right.join(" or ")}`));
    }
  }
  const sets = ["personal", "development", "labels_ko", "labels_de", "labels_es"];
  for (const file of args.includes("--held-out") ? [...sets, "held_out"] : sets) {
    const { before, after } = await measureUnrelated(embedder, file);
    print(
      `Retrieval, ${file}: first hits ${before.toFixed(1)} by score, ${after.toFixed(1)} ordered`,
    );
  }
  return 0;
}
