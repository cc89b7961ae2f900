import { isSameStatement } from "../src/memory/analyze/same_statement.ts";
import { print } from "./print.ts";

/** Two statements, and whether a person would keep only one of them. */
export interface Pair {
  readonly a: string;
  readonly b: string;
  readonly same: boolean;
}

/** Reads the labelled pairs. */
export async function labelledPairs(): Promise<Pair[]> {
  const file = new URL("../tests/testdata/duplicates/pairs.json", import.meta.url);
  return JSON.parse(await Deno.readTextFile(file));
}

/** Numbers of pairs, and of those among them that are taken for one statement. */
export function measure(pairs: readonly Pair[]): {
  readonly same: number;
  readonly recognised: number;
  readonly different: number;
  readonly confused: number;
} {
  const same = pairs.filter((pair) => pair.same);
  const different = pairs.filter((pair) => !pair.same);
  const taken = (list: readonly Pair[]) => list.filter(({ a, b }) => isSameStatement(a, b)).length;
  return {
    same: same.length,
    recognised: taken(same),
    different: different.length,
    confused: taken(different),
  };
}

/** Prints how many duplicates are recognised, and how many facts would be lost for it. */
export async function run(args: readonly string[]): Promise<number> {
  const pairs = await labelledPairs();
  const { same, recognised, different, confused } = measure(pairs);
  const missed = pairs.filter(({ a, b, same }) => same !== isSameStatement(a, b));
  print(
    `Duplicates: ${recognised} of ${same} recognised; ${confused} of ${different} different facts lost`,
    ...(args.includes("--missed") ? missed.map(({ a, b }) => `${a} | ${b}`) : []),
  );
  return 0;
}
