import { WEIGHTS_FOLDER } from "../../plugins/use_lite/folders.ts";
import { type Piece, Tokenizer } from "../../plugins/use_lite/engine/tokenizer.ts";
import { WINDOW_TOKENS } from "../../plugins/use_lite/engine/windows.ts";
import { firstPerson } from "../../src/memory/vectors.ts";
import { readConversations } from "../conversation_set.ts";
import { readQuerySet } from "../query_set.ts";
import { type Item, readTexts, type Store } from "./texts.ts";

interface Fact {
  readonly fact: string;
  readonly queries: readonly string[];
}

const ofFact = ({ fact, queries }: Fact): Item => ({
  text: fact,
  queries: [...queries],
  reworded: [],
  unlike: [],
});

/** The tuning conversations in one store, as turns or as facts. */
async function told(kind: "turns" | "facts"): Promise<Store> {
  const items: Item[] = [];
  for (const conversation of await readConversations("tuning")) {
    const first = items.length;
    items.push(...conversation[kind].map(({ text }) => ofFact({ fact: text, queries: [] })));
    for (const { text, turn, fact } of conversation.questions) {
      const place = kind === "turns" ? turn : fact;
      if (place !== undefined) items[first + place]!.queries.push(text);
    }
  }
  return { items, unanswered: [] };
}

/**
 * Writes what `fine_tune.py` reads, as JSON: token ids of the training stores, of the development
 * queries and the tuning conversations, as the embedder would see them, and where the weights are.
 * Argument: the file.
 */
export async function run([file]: readonly string[]): Promise<number> {
  const read = async (url: string | URL) => await Deno.readTextFile(new URL(url));
  const pieces: Piece[] = JSON.parse(await read(new URL("vocab.json", WEIGHTS_FOLDER)));
  const tokenizer = new Tokenizer(pieces);
  const ids = (text: string) => [
    ...tokenizer.encode(firstPerson(text)).subarray(0, WINDOW_TOKENS),
  ];
  const idsOf = ({ items, unanswered }: Store) => ({
    items: items.map(({ text, queries, reworded, unlike }) => ({
      text: ids(text),
      queries: queries.map(ids),
      reworded: reworded.map(ids),
      unlike: unlike.map(ids),
    })),
    unanswered: unanswered.map(ids),
  });
  const lines = (await read(new URL("stores.jsonl", import.meta.url))).trim().split("\n");
  const stores: Store[] = lines.map((line) => ({
    items: (JSON.parse(line).facts as Fact[]).map(ofFact),
    unanswered: [],
  }));
  const { stores: queries } = await readQuerySet("development", ["personal", "development"]);
  const tuning = {
    development: queries.map(({ facts }) => idsOf({ items: facts.map(ofFact), unanswered: [] })),
    turns: [idsOf(await told("turns"))],
    facts: [idsOf(await told("facts"))],
  };
  const training = { stores, ...await readTexts() };
  const tokens = Object.entries(training).map(([kind, of]) => [kind, of.map(idsOf)]);
  const text = JSON.stringify({
    weights: WEIGHTS_FOLDER,
    training: Object.fromEntries(tokens),
    tuning,
  });
  if (file === undefined) return 2;
  await Deno.writeTextFile(file, text);
  return 0;
}
