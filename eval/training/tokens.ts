import { WEIGHTS_FOLDER } from "../../plugins/use_lite/folders.ts";
import { type Piece, Tokenizer } from "../../plugins/use_lite/engine/tokenizer.ts";
import { WINDOW_TOKENS } from "../../plugins/use_lite/engine/windows.ts";
import { firstPerson } from "../../src/memory/vectors.ts";
import { readQuerySet } from "../query_set.ts";

interface Item {
  readonly fact: string;
  readonly queries: readonly string[];
}

/**
 * Writes what `fine_tune.py` reads, as JSON: token ids of the training stores and of the development
 * queries, as the embedder would see them, and where the weights are. Argument: the file.
 */
export async function run([file]: readonly string[]): Promise<number> {
  const read = async (url: string | URL) => await Deno.readTextFile(new URL(url));
  const pieces: Piece[] = JSON.parse(await read(new URL("vocab.json", WEIGHTS_FOLDER)));
  const tokenizer = new Tokenizer(pieces);
  const ids = (text: string) => [
    ...tokenizer.encode(firstPerson(text)).subarray(0, WINDOW_TOKENS),
  ];
  const store = (items: readonly Item[]) =>
    items.map(({ fact, queries }) => ({ fact: ids(fact), queries: queries.map(ids) }));
  const lines = (await read(new URL("stores.jsonl", import.meta.url))).trim().split("\n");
  const training = lines.map((line) => store(JSON.parse(line).facts));
  const { stores } = await readQuerySet("development", ["personal", "development"]);
  const development = stores.map(({ facts }) => store(facts));
  const text = JSON.stringify({ weights: WEIGHTS_FOLDER, training, development });
  if (file === undefined) return 2;
  await Deno.writeTextFile(file, text);
  return 0;
}
