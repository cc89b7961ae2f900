import { useLiteEmbedder } from "../plugins/use_lite/mod.ts";
import type { Embedder } from "../src/interfaces/mod.ts";
import { Statement } from "../src/memory/links/same_statement.ts";
import { documentVectors } from "../src/memory/vectors.ts";
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

/** Whether two texts are taken for one statement. */
export function isSame(a: string, b: string): boolean {
  return new Statement(a).saysTheSame(new Statement(b));
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
  const taken = (list: readonly Pair[]) => list.filter(({ a, b }) => isSame(a, b)).length;
  return {
    same: same.length,
    recognised: taken(same),
    different: different.length,
    confused: taken(different),
  };
}

/** Words that decide what a statement says, whatever is near: numbers, dates, names, negations. */
const DECISIVE =
  /(?<!^)\b\p{Lu}[\p{L}'’]*|\d[\d.:]*|\b(?:not?|never|none|without|cannot|always|against|\w+n['’]t|one|two|three|first|second|third)\b/gu;

function decisive(text: string): string {
  return [...text.matchAll(DECISIVE)].map(([word]) => word).sort().join(" ");
}

/** A pair, its cosine, and whether its numbers, dates, names and negations are the same. */
export interface NearPair extends Pair {
  readonly cosine: number;
  readonly guarded: boolean;
}

/** How near the statements of each pair lie. */
export async function nearPairs(
  pairs: readonly Pair[],
  embedder: Embedder,
): Promise<NearPair[]> {
  const vectors = async (texts: string[]) => await documentVectors(embedder, texts, undefined);
  const first = await vectors(pairs.map(({ a }) => a));
  const second = await vectors(pairs.map(({ b }) => b));
  return pairs.map((pair, i) => {
    const [a, b] = [first[i]![0]!, second[i]![0]!];
    const cosine = a.reduce((sum, value, at) => sum + value * b[at]!, 0);
    return { ...pair, cosine, guarded: decisive(pair.a) === decisive(pair.b) };
  });
}

/** What a threshold of the cosine would do on top of the words. */
export function beyondWords(pairs: readonly NearPair[], atLeast: number, guard: boolean): {
  readonly recognised: number;
  readonly lost: number;
} {
  const taken = pairs.filter(({ a, b, cosine, guarded }) =>
    cosine >= atLeast && (guarded || !guard) && !isSame(a, b)
  );
  const recognised = taken.filter(({ same }) => same).length;
  return { recognised, lost: taken.length - recognised };
}

/** Prints how many duplicates are recognised, and how many facts would be lost for it. */
export async function run(args: readonly string[]): Promise<number> {
  const pairs = await labelledPairs();
  const { same, recognised, different, confused } = measure(pairs);
  const missed = pairs.filter(({ a, b, same }) => same !== isSame(a, b));
  await using embedder = useLiteEmbedder();
  const near = await nearPairs(pairs, embedder);
  const lines = [0.995, 0.985, 0.98, 0.95, 0.9].map((atLeast) => {
    const [plain, guarded] = [false, true].map((guard) => beyondWords(near, atLeast, guard));
    return `Cosine >= ${atLeast} besides: ${plain!.recognised} more recognised, ${
      plain!.lost
    } lost; ` +
      `same numbers, dates, names and negations only: ${guarded!.recognised} more, ${
        guarded!.lost
      } lost`;
  });
  print(
    `Duplicates: ${recognised} of ${same} recognised; ${confused} of ${different} different facts lost`,
    ...lines,
    ...(args.includes("--missed") ? missed.map(({ a, b }) => `${a} | ${b}`) : []),
  );
  return 0;
}
