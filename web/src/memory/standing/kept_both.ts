import { keep, read } from "../../storage.ts";
import { type Pairs, pairsOf } from "./pairs.ts";

const NAME = "kept-both";
/** Pairs that are remembered. */
const MOST = 500;

/** Pairs of which this browser's user wants both; none where that cannot be read. */
export async function readKeptBoth(): Promise<Pairs> {
  return new Set(await read<readonly string[]>(NAME).catch(() => undefined) ?? []);
}

/** Notes that the user wants all of some memories, or that this is open again. */
export async function noteKeptBoth(ids: readonly string[], isKept: boolean): Promise<void> {
  const pairs = pairsOf(ids);
  const before = [...await readKeptBoth()].filter((pair) => !pairs.includes(pair));
  await keep(NAME, [...isKept ? pairs : [], ...before].slice(0, MOST));
}
