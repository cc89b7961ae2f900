import { useLiteEmbedder } from "../plugins/use_lite/mod.ts";
import { QueryVectors } from "../src/memory/recall/query_vectors.ts";
import { comparisons } from "./compare_store.ts";
import { print } from "./print.ts";
import { readQuerySet } from "./query_set.ts";

/** Closest memory to one query with its fact in the store, and with it taken out. */
export interface Query {
  /** 0 to 1. */
  readonly answerable: number;
  /** 0 to 1. */
  readonly unanswerable: number;
}

/** Share of answerable queries that a threshold must let through. */
const LET_THROUGH = 0.9;

/** Every query of a retrieval file, asked in the store of its fact. */
export async function queriesOf(name: string): Promise<Query[]> {
  await using embedder = useLiteEmbedder();
  const vectors = new QueryVectors(embedder, 0, Date.now);
  const found: Query[] = [];
  for (const store of (await readQuerySet(name, [name])).stores) {
    for await (const { answer, distances, fused } of comparisons(embedder, vectors, store)) {
      // By meaning, or by the words where those count.
      const scores = Array.from(distances, (distance, i) => {
        return Math.max(1 - distance, Math.min(1, fused[i]!));
      });
      found.push({
        answerable: Math.max(...scores),
        unanswerable: Math.max(...scores.filter((_, slot) => slot !== answer)),
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

/**
 * Calibrates "close enough" on the development queries, and with
 * `--held-out` says what it does to those that nothing was chosen on.
 */
export async function run(args: readonly string[]): Promise<number> {
  const personal = await queriesOf("personal");
  const chosen = calibrate(personal, LET_THROUGH);
  const heldOut = args.includes("--held-out") ? await queriesOf("held_out") : undefined;
  const sets = [
    ["personal", personal] as const,
    ...(heldOut === undefined ? [] : [["held_out", heldOut] as const]),
  ];
  const lines = [
    `Close enough to quote: >= ${chosen} (lets ${LET_THROUGH * 100} % through)`,
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
