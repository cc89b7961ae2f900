import { useLiteEmbedder } from "../plugins/use_lite/mod.ts";
import type { Embedder } from "../src/interfaces/mod.ts";
import { QueryVectors } from "../src/memory/recall/query_vectors.ts";
import { uniform } from "../bench/statistics.ts";
import { comparisons } from "./compare_store.ts";
import { type FactStore, type QuerySet, readQuerySet } from "./query_set.ts";
import { interval, quality, rankOf } from "../cli/memories/eval/ranks.ts";

/** What is compared: every leg by itself, and all of them as recall does it. */
const RANKERS = ["cosine", "words", "letters", "fusion"] as const;
type Ranker = typeof RANKERS[number];
type Ranks = Record<Ranker, number[]>;

const HELP = `deno task eval recall [--held-out] [--misses]

  Quality of recall on tests/testdata/retrieval, for every leg and the fusion.
  --held-out   also the held-out queries: at checkpoints, not while tuning
  --misses     the queries whose answer is not first
`;

const SETS: readonly (readonly [name: string, files: readonly string[]])[] = [
  ["development", ["personal", "development"]],
  ["Korean labels", ["labels_ko"]],
  ["German labels", ["labels_de"]],
  ["Spanish labels", ["labels_es"]],
];

/** Ranks of the right answers of one store. */
async function rankStore(
  embedder: Embedder,
  queries: QueryVectors,
  store: FactStore,
  ranks: Ranks,
  missed: (line: string) => void,
): Promise<void> {
  for await (const compared of comparisons(embedder, queries, store)) {
    const { query, answer, distances, lexical, fused } = compared;
    ranks.cosine.push(rankOf(answer, distances.map((distance) => -distance)));
    ranks.words.push(rankOf(answer, lexical.words));
    ranks.letters.push(rankOf(answer, lexical.runs));
    const rank = rankOf(answer, fused);
    ranks.fusion.push(rank);
    if (rank === 1) continue;
    const best = fused.indexOf(Math.max(...fused));
    const text = (slot: number) => store.facts[slot]!.fact;
    missed(`  ${rank}. ${query}\n       ${text(answer)}\n    1. ${text(best)}`);
  }
}

async function ranksOf(
  embedder: Embedder,
  set: QuerySet,
  missed: (line: string) => void,
): Promise<Ranks> {
  const ranks: Ranks = { cosine: [], words: [], letters: [], fusion: [] };
  const queries = new QueryVectors(embedder, 0, Date.now);
  for (const store of set.stores) await rankStore(embedder, queries, store, ranks, missed);
  return ranks;
}

function line(name: string, ranker: string, ranks: readonly number[]): string {
  const { queries, hit1, hit5, recall10, ndcg10 } = quality(ranks);
  const numbers = [hit1, hit5, recall10, ndcg10].map((value) => value.toFixed(1).padStart(9));
  return `${name.padEnd(15)} ${String(queries).padStart(4)}  ${ranker.padEnd(8)}${
    numbers.join("")
  }`;
}

function intervalLine(ranks: readonly number[]): string {
  const between = (name: string, measure: Parameters<typeof interval>[1]): string => {
    const [low, high] = interval(ranks, measure, uniform(1));
    return `${name} ${low.toFixed(1)} to ${high.toFixed(1)}`;
  };
  const parts = [between("hit@1", (q) => q.hit1), between("hit@5", (q) => q.hit5)];
  return `  95 % interval of the fusion: ${parts.join(", ")}`;
}

/** Prints the quality of recall; answers the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const print = (text: string): void => {
    Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
  };
  if (args.some((arg) => !["--held-out", "--misses"].includes(arg))) {
    print(HELP);
    return args.includes("--help") ? 0 : 2;
  }
  await using embedder = useLiteEmbedder();
  const names = args.includes("--held-out") ? [...SETS, ["held out", ["held_out"]] as const] : SETS;
  print(`${"set".padEnd(13)} queries  leg         hit@1    hit@5   rec@10  nDCG@10`);
  for (const [name, files] of names) {
    const misses: string[] = [];
    const ranks = await ranksOf(embedder, await readQuerySet(name, files), (text) => {
      misses.push(text);
    });
    for (const ranker of RANKERS) print(line(name, ranker, ranks[ranker]));
    print(intervalLine(ranks.fusion));
    if (args.includes("--misses")) misses.forEach(print);
  }
  return 0;
}
