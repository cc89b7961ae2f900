import { basename, dirname, resolve } from "node:path";
import { onnxEmbedder } from "../plugins/onnx/mod.ts";
import { useLiteEmbedder } from "../plugins/use_lite/mod.ts";
import type { Embedder } from "../src/interfaces/mod.ts";
import { QueryVectors } from "../src/memory/recall/query_vectors.ts";
import { comparisons } from "./compare_store.ts";
import { print } from "./print.ts";
import { type FactStore, readQuerySet } from "./query_set.ts";
import { quality, rankOf } from "../cli/memories/eval/ranks.ts";

const HELP = `deno task eval languages [--held-out] [--misses] [--onnx FOLDER]

  Quality of recall on questions in nine languages: each in a scope of its own language, and all in
  one scope with English.
  --held-out   the held-out questions: at checkpoints, not while tuning
  --misses     the tuning questions whose answer is not among the first five
  --onnx       with a model that \`svc model get\` fetched: its folder`;

/** Languages of the questions, by their codes. */
export const LANGUAGES = ["de", "es", "fr", "pt", "zh", "ja", "ko", "ar", "hi"] as const;

/** Questions of a language with their facts. */
export async function languageStore(name: string, isHeldOut: boolean): Promise<FactStore> {
  const file = `languages/${isHeldOut ? "held_out" : "tuning"}/${name}`;
  const { stores: [store] } = await readQuerySet(name, [file]);
  return store!;
}

/** Ranks of the right answers, by hybrid, by words and letters alone, and by meaning alone. */
interface Ranks {
  readonly hybrid: number[];
  readonly words: number[];
  readonly letters: number[];
  readonly meaning: number[];
}

/** Compares the queries of a store with all of its facts. */
export async function ranksOf(
  embedder: Embedder,
  store: FactStore,
  missed: (line: string) => void,
): Promise<Ranks> {
  const ranks: Ranks = { hybrid: [], words: [], letters: [], meaning: [] };
  const queries = new QueryVectors(embedder, 0, Date.now);
  for await (const compared of comparisons(embedder, queries, store)) {
    const { query, answer, distances, lexical, fused } = compared;
    const rank = rankOf(answer, fused);
    ranks.hybrid.push(rank);
    ranks.words.push(rankOf(answer, lexical.words));
    ranks.letters.push(rankOf(answer, lexical.runs));
    ranks.meaning.push(rankOf(answer, distances.map((distance) => -distance)));
    if (rank <= 5) continue;
    const best = fused.indexOf(Math.max(...fused));
    const text = (slot: number) => store.facts[slot]!.fact;
    missed(`  ${rank}. ${query}\n       ${text(answer)}\n    1. ${text(best)}`);
  }
  return ranks;
}

function line(name: string, ranks: Ranks): string {
  const legs = [ranks.hybrid, ranks.words, ranks.letters, ranks.meaning].map((own) => {
    const { hit1, hit5 } = quality(own);
    return `${hit1.toFixed(1).padStart(6)} /${hit5.toFixed(1).padStart(6)}`;
  });
  return `${name.padEnd(12)} ${String(ranks.hybrid.length).padStart(4)}  ${legs.join("   ")}`;
}

/** The ranks of some of the queries, counted by their place. */
function part(ranks: Ranks, start: number, end: number): Ranks {
  return {
    hybrid: ranks.hybrid.slice(start, end),
    words: ranks.words.slice(start, end),
    letters: ranks.letters.slice(start, end),
    meaning: ranks.meaning.slice(start, end),
  };
}

/** The embedder of a model that was fetched. */
export async function embedderIn(folder: string): Promise<Embedder> {
  const path = resolve(folder);
  return await onnxEmbedder({ modelDir: dirname(path), model: basename(path) });
}

/** Prints the quality of recall by language; answers the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const at = args.indexOf("--onnx");
  const folder = at < 0 ? undefined : args[at + 1];
  const known = ["--held-out", "--misses", "--onnx", folder];
  if (args.some((arg) => !known.includes(arg)) || at >= 0 && folder === undefined) {
    print(HELP);
    return args.includes("--help") ? 0 : 2;
  }
  const isHeldOut = args.includes("--held-out");
  await using embedder = folder === undefined ? useLiteEmbedder() : await embedderIn(folder);
  print("hit@1 / hit@5       hybrid          words           letters         meaning");
  const stores: { readonly name: string; readonly store: FactStore }[] = [];
  for (const name of LANGUAGES) {
    const store = await languageStore(name, isHeldOut);
    const misses: string[] = [];
    print(line(name, await ranksOf(embedder, store, (text) => misses.push(text))));
    if (args.includes("--misses") && !isHeldOut) print(...misses);
    stores.push({ name, store });
  }
  const { stores: [english] } = await readQuerySet("en", [isHeldOut ? "held_out" : "personal"]);
  stores.push({ name: "en", store: english! });
  const mixed = { who: "all", facts: stores.flatMap(({ store }) => store.facts) };
  const ranks = await ranksOf(embedder, mixed, () => {});
  print(`One scope of all ${mixed.facts.length} facts`);
  let start = 0;
  for (const { name, store } of stores) {
    const end = start + store.facts.reduce((sum, { queries }) => sum + queries.length, 0);
    print(line(name, part(ranks, start, end)));
    start = end;
  }
  return 0;
}
