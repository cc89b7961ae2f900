import { useLite } from "../plugins/use_lite/mod.ts";
import { print } from "./print.ts";

interface Store {
  readonly facts: readonly { readonly fact: string; readonly queries: readonly string[] }[];
}

/** Best cosine of one query with its fact in the store, and with it taken out. */
export interface Query {
  /** 0 to 1. */
  readonly answerable: number;
  /** 0 to 1. */
  readonly unanswerable: number;
}

/** Share of answerable queries that a threshold must let through. */
const LET_THROUGH = 0.9;

async function vectors(
  texts: readonly string[],
  purpose: "document" | "query",
): Promise<Float32Array[]> {
  await using embedder = useLite();
  return (await embedder.embed(texts, { purpose })).map(([first]) => {
    if (first === undefined) throw new Error("The embedder gave no vector");
    return first;
  });
}

function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
}

/** Every query of a retrieval file, asked in the store of its fact. */
export async function queriesOf(name: string): Promise<Query[]> {
  const file = new URL(`../tests/testdata/retrieval/${name}.json`, import.meta.url);
  const { stores } = JSON.parse(await Deno.readTextFile(file)) as { stores: readonly Store[] };
  const found: Query[] = [];
  for (const { facts } of stores) {
    const documents = await vectors(facts.map(({ fact }) => fact), "document");
    const asked = facts.flatMap(({ queries }, right) => queries.map((query) => ({ query, right })));
    const embedded = await vectors(asked.map(({ query }) => query), "query");
    for (const [i, { right }] of asked.entries()) {
      const scores = documents.map((document) => cosine(document, embedded[i]!));
      found.push({
        answerable: Math.max(...scores),
        unanswerable: Math.max(...scores.filter((_, n) => n !== right)),
      });
    }
  }
  return found;
}

/** Shares that a threshold gives: answerable queries let through, unanswerable ones turned away. */
export function sharesAt(queries: readonly Query[], threshold: number): [number, number] {
  const share = (fits: (query: Query) => boolean) => queries.filter(fits).length / queries.length;
  return [
    share(({ answerable }) => answerable >= threshold),
    share(({ unanswerable }) => unanswerable < threshold),
  ];
}

/** The highest threshold, in hundredths, that lets enough answerable queries through. */
export function calibrate(queries: readonly Query[], letThrough: number): number {
  let best = 0;
  for (let hundredths = 0; hundredths <= 100; hundredths++) {
    if (sharesAt(queries, hundredths / 100)[0] >= letThrough) best = hundredths / 100;
  }
  return best;
}

/** Calibrates "close enough" on the development queries, and says what it does to held-out ones. */
export async function run(): Promise<number> {
  const personal = await queriesOf("personal");
  const chosen = calibrate(personal, LET_THROUGH);
  const sets = [["personal", personal], ["held_out", await queriesOf("held_out")]] as const;
  const lines = [
    `Close enough to quote: cosine >= ${chosen} (lets ${LET_THROUGH * 100} % through)`,
  ];
  for (const threshold of [chosen - 0.1, chosen - 0.05, chosen, chosen + 0.05, chosen + 0.1]) {
    for (const [name, queries] of sets) {
      const [through, away] = sharesAt(queries, threshold);
      lines.push(
        `${threshold.toFixed(2)} ${name.padEnd(8)} ${queries.length} queries: answerable quoted ` +
          `${through.toFixed(3)}, unanswerable turned away ${away.toFixed(3)}`,
      );
    }
  }
  print(...lines);
  return 0;
}
