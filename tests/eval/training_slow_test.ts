import assert from "node:assert/strict";
import { readQuerySet } from "../../eval/query_set.ts";
import { readUpdates } from "../../eval/updates.ts";

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

Deno.test("no held-out statement is among what replaces what", async () => {
  const items = await Deno.makeTempFile();
  const script = new URL("../../eval/training/statements.py", import.meta.url).pathname;
  const { success } = await new Deno.Command("python3", { args: [script, items] }).output();
  assert.ok(success);
  const made: { old: string; new: string }[] = JSON.parse(await Deno.readTextFile(items));
  await Deno.remove(items);
  assert.ok(made.length > 5_000);
  const trained = new Set(made.flatMap((item) => [item.old, item.new]).map(bare));
  const { updates } = await readUpdates("held_out");
  const same = updates.flatMap(({ statements }) => statements).filter((text) =>
    trained.has(bare(text))
  );
  assert.equal(same.length, 0);
});

/** Without what varies in what is written. */
const bare = (text: string) => text.toLowerCase().replace(/[.?!]$/, "");

const plain = (text: string) => text.toLowerCase().trim();

const wordsOf = (text: string) => new Set(text.toLowerCase().match(/[a-z0-9]{3,}/g) ?? []);

/** Jaccard index. */
function shared(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const both = [...a].filter((word) => b.has(word)).length;
  return both / (a.size + b.size - both || 1);
}
