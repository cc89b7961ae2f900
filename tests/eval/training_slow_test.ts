import assert from "node:assert/strict";
import { readQuerySet } from "../../eval/query_set.ts";

interface Item {
  readonly fact: string;
  readonly queries: readonly string[];
}

Deno.test("nothing is trained on that is evaluated", async () => {
  const file = new URL("../../eval/training/stores.jsonl", import.meta.url);
  const lines = (await Deno.readTextFile(file)).trim().split("\n");
  const trained: Item[] = lines.flatMap((line) => JSON.parse(line).facts);
  assert.ok(trained.length > 24_000);
  assert.ok(trained.every(({ fact, queries }) => fact !== "" && queries.length > 0));
  const { stores } = await readQuerySet("all", ["personal", "development", "held_out"]);
  const facts = stores.flatMap((store) => store.facts.map(({ fact }) => wordsOf(fact)));
  // Whoever notes facts of the same kind uses some of the same words; see the README there.
  const most = Math.max(...trained.map(({ fact }) => {
    const words = wordsOf(fact);
    return Math.max(...facts.map((other) => shared(words, other)));
  }));
  assert.ok(most < 0.6, `${most}`);
  const asked = new Set(
    stores.flatMap((store) => store.facts.flatMap(({ queries }) => queries.map(plain))),
  );
  const same = trained.flatMap(({ queries }) => queries).filter((query) => asked.has(plain(query)));
  assert.deepEqual(same, []);
});

const plain = (text: string) => text.toLowerCase().trim();

const wordsOf = (text: string) => new Set(text.toLowerCase().match(/[a-z0-9]{3,}/g) ?? []);

/** Jaccard index. */
function shared(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const both = [...a].filter((word) => b.has(word)).length;
  return both / (a.size + b.size - both || 1);
}
