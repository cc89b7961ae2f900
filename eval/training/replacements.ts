import { uniform } from "../../bench/statistics.ts";
import { useLiteEmbedder } from "../../plugins/use_lite/mod.ts";
import { toldOf } from "../../src/memory/recall/newer_first.ts";
import { QueryVectors } from "../../src/memory/recall/query_vectors.ts";
import { print } from "../print.ts";
import type { FactStore } from "../query_set.ts";
import { RememberingEmbedder } from "../remembering.ts";
import { type Found, found, foundFor, type Labelled, labelled, readUpdates } from "../updates.ts";

const TUNING = ["tuning", "styles_tuning"];
/** How often facts count that are all true: those of a store, of several, and look-alikes. */
const OF_STORES = 0.2;
const OF_MERGED = 0.4;
const OF_ALIKE = 1;
/** Of the stores every fifth is asked alone, and every fifth together with seven others. */
const EVERY_STORE = 5;
const TOGETHER = 8;
const BEHIND = [7, 7, 11];
/** Share of the distractors beside a generated item. */
const BESIDE = 0.33;

/** What statements.py writes: `other` says nothing that replaces the others. */
interface Item {
  readonly question: string;
  readonly old: string;
  readonly new: string;
  readonly other: readonly string[];
  readonly weight: number;
}

/** Observations and their vectors, as aspects.py reads them. */
class Observations {
  readonly rows: number[][] = [];
  readonly #vectors: Float32Array[] = [];
  readonly #at = new Map<string, number>();

  add({ asked, hits }: Found, { older, newer, isTrue, weight }: Labelled): void {
    const [a, b] = [older, newer].map((text) => {
      const hit = hits.find((hit) => hit.text === text);
      return hit?.vector && { ...hit, start: 0 };
    });
    const told = a && b && toldOf(asked, a, b);
    if (!told) return;
    const question = this.#place(`? ${asked.text}`, asked.vector!);
    const at = [a, b].map(({ text, vector }) => this.#place(text, vector!));
    const scores = [b.cosine, a.rank - b.rank];
    this.rows.push([question, ...at, Number(isTrue), weight, ...scores, ...Object.values(told)]);
  }

  async write(folder: string): Promise<void> {
    const bytes = this.#vectors.flatMap((vector) => [new Uint8Array(vector.slice().buffer)]);
    await Deno.writeFile(
      `${folder}/vectors.f32`,
      new Uint8Array(await new Blob(bytes).arrayBuffer()),
    );
    await Deno.writeTextFile(`${folder}/rows.json`, JSON.stringify(this.rows));
  }

  #place(text: string, vector: Float32Array): number {
    return this.#at.getOrInsertComputed(text, () => this.#vectors.push(vector) - 1);
  }
}

/** Every fifth store alone, the next ones of each five put together, and facts that look alike. */
async function readStores(): Promise<FactStore[][]> {
  const lines = await Deno.readTextFile(new URL("stores.jsonl", import.meta.url));
  const stores = lines.trim().split("\n").map((line): FactStore => JSON.parse(line));
  const every = (first: number) => stores.filter((_, i) => i % EVERY_STORE === first);
  const merged: FactStore[] = [];
  const others = every(1);
  for (let i = 0; i + TOGETHER <= others.length; i += TOGETHER) {
    const facts = others.slice(i, i + TOGETHER).flatMap(({ facts }) => facts)
      .map(({ fact, queries }) => ({ fact, queries: queries.slice(0, 1) }));
    merged.push({ who: "", facts });
  }
  const writes = new URL("../../tests/testdata/writes/tuning.json", import.meta.url);
  const written: { facts: { fact: string; question: string }[] } = JSON.parse(
    await Deno.readTextFile(writes),
  );
  const alike = written.facts.map(({ fact, question }) => ({ fact, queries: [question] }));
  return [every(0), merged, [{ who: "", facts: alike }]];
}

/**
 * Writes what aspects.py learns from.
 *
 * @param args A file that statements.py wrote, and a folder.
 */
export async function run(args: readonly string[]): Promise<number> {
  const [file, folder] = args;
  if (file === undefined || folder === undefined) {
    print("deno task eval replacements ITEMS FOLDER; see eval/training/README.md");
    return 2;
  }
  await using inner = useLiteEmbedder();
  const embedder = new RememberingEmbedder(inner);
  const queries = new QueryVectors(embedder, 0, Date.now);
  const all = new Observations();
  for (const name of TUNING) {
    const set = await readUpdates(name);
    for (const update of set.updates) {
      const one = await foundFor(embedder, queries, set, update);
      for (const pair of labelled(update)) all.add(one, pair);
    }
  }
  const { distractors } = await readUpdates("tuning");
  const random = uniform(3);
  const items: Item[] = JSON.parse(await Deno.readTextFile(file));
  for (const { question, old, new: newer, other, weight } of items) {
    const some = distractors.filter(() => random() < BESIDE);
    const statements = [old, newer, ...other] as const;
    const one = await foundFor(embedder, queries, { distractors: some }, { statements, question });
    all.add(one, { older: old, newer, isTrue: true, weight });
    for (const none of other) {
      for (const older of [old, newer]) all.add(one, { older, newer: none, isTrue: false, weight });
    }
  }
  for (const [i, stores] of (await readStores()).entries()) {
    for (const store of stores) {
      for await (const one of found(embedder, queries, store)) {
        if (one.hits[0]!.text !== one.answer) continue;
        for (const { text } of one.hits.slice(1, 1 + BEHIND[i]!)) {
          const weight = [OF_STORES, OF_MERGED, OF_ALIKE][i]!;
          all.add(one, { older: one.answer, newer: text, isTrue: false, weight });
        }
      }
    }
  }
  await all.write(folder);
  print(`${all.rows.length} observations`);
  return 0;
}
