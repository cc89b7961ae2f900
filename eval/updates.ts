import { uniform } from "../bench/statistics.ts";
import { useLiteEmbedder } from "../plugins/use_lite/mod.ts";
import type { Embedder } from "../src/interfaces/mod.ts";
import { newerFirst } from "../src/memory/recall/newer_first.ts";
import { QueryVectors } from "../src/memory/recall/query_vectors.ts";
import { comparisons } from "./compare_store.ts";
import { print } from "./print.ts";
import { type FactStore, readQuerySet } from "./query_set.ts";

const HELP = `deno task eval updates [--held-out] [--misses]

  Whether recall puts what is true now before what it replaced, on tests/testdata/updates, and whether
  the time of unrelated facts changes what is found on tests/testdata/retrieval.
  --held-out   also the held-out items: at checkpoints, not while tuning
  --misses     the items whose first statement is a wrong one
`;

/** Hits that recall looks at: ten that are answered, and ten around them. */
const LOOKED_AT = 20;
/** Orders in which unrelated facts are said. */
const ORDERS = 5;

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
  readonly distractors: readonly string[];
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
  return { updates: [...pairs, ...triples], distractors: file.distractors };
}

/** What is found first among some texts, by the score alone and with newer statements first. */
interface First {
  readonly byScore: readonly string[];
  readonly ordered: readonly string[];
}

/** Finds with the store's first query; a text's time is its number in `times`. */
async function* found(
  embedder: Embedder,
  queries: QueryVectors,
  store: FactStore,
  times: readonly number[],
): AsyncGenerator<First & { readonly answer: number }> {
  const texts = store.facts.map(({ fact }) => fact);
  for await (const { query, answer, fused } of comparisons(embedder, queries, store)) {
    const best = texts.map((text, at) => ({ text, rank: fused[at]!, start: times[at]! }))
      .sort((a, b) => b.rank - a.rank).slice(0, LOOKED_AT);
    const { order } = newerFirst(query, best);
    const byScore = best.map(({ text }) => text);
    yield { answer, byScore, ordered: order.map((at) => best[at]!.text) };
  }
}

/** Whether the first of an item's statements that is found is a right one, before and after. */
async function judged(embedder: Embedder, queries: QueryVectors, set: UpdateSet, update: Update) {
  const { statements, question, right } = update;
  const facts = [...set.distractors, ...statements.slice(1)]
    .map((fact) => ({ fact, queries: [] as string[] }));
  // The first statement carries the question; all others are only compared.
  const store: FactStore = {
    who: "",
    facts: [{ fact: statements[0], queries: [question] }, ...facts],
  };
  const random = uniform(1);
  const times = [
    0,
    ...set.distractors.map(() => random() - 1),
    ...statements.slice(1).map((_, i) => i + 1),
  ];
  for await (const { byScore, ordered } of found(embedder, queries, store, times)) {
    const isRight = (texts: readonly string[]) => {
      const first = texts.find((text) => statements.includes(text));
      return first !== undefined && right.includes(first);
    };
    return { before: isRight(byScore), after: isRight(ordered) };
  }
  throw new Error("a question was not asked");
}

/** How many items have a right statement first, by the score alone and with newer ones first. */
export async function measureUpdates(embedder: Embedder, name: string): Promise<{
  readonly items: number;
  readonly before: number;
  readonly after: number;
  readonly missed: readonly Update[];
}> {
  const set = await readUpdates(name);
  const queries = new QueryVectors(embedder, 0, Date.now);
  let before = 0;
  const missed: Update[] = [];
  for (const update of set.updates) {
    const result = await judged(embedder, queries, set, update);
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
  let [before, after] = [0, 0];
  for (let order = 0; order < ORDERS; order++) {
    const random = uniform(order + 1);
    for (const store of stores) {
      const times = store.facts.map(() => random());
      for await (const { answer, byScore, ordered } of found(embedder, queries, store, times)) {
        const text = store.facts[answer]!.fact;
        before += Number(byScore[0] === text) / ORDERS;
        after += Number(ordered[0] === text) / ORDERS;
      }
    }
  }
  return { before, after };
}

/** Prints whether newer statements come first; answers the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  if (args.some((arg) => !["--held-out", "--misses"].includes(arg))) {
    print(HELP);
    return args.includes("--help") ? 0 : 2;
  }
  await using embedder = useLiteEmbedder();
  for (const name of args.includes("--held-out") ? ["tuning", "held_out"] : ["tuning"]) {
    const { items, before, after, missed } = await measureUpdates(embedder, name);
    print(
      `Updates, ${name}: the right statement first in ${after} of ${items}, by score ${before}`,
    );
    if (args.includes("--misses") && name === "tuning") {
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
