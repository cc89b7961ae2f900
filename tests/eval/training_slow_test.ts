import assert from "node:assert/strict";
import { readQuerySet } from "../../eval/query_set.ts";
import { readConversations } from "../../eval/conversation_set.ts";
import { readQuestions } from "../../eval/silence_data.ts";
import { readTexts } from "../../eval/training/texts.ts";
import { readUpdates } from "../../eval/updates.ts";
import { readWrites } from "../../eval/writes.ts";

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

Deno.test("of more texts nothing is what is evaluated either", async () => {
  const stores = Object.values(await readTexts()).flat();
  const items = stores.flatMap(({ items }) => items);
  assert.ok(items.length > 20_000);
  const { facts, asked } = await evaluated();
  const places = new Map<string, number[]>();
  for (const [i, words] of facts.entries()) {
    for (const word of words) places.getOrInsertComputed(word, () => []).push(i);
  }
  const countOf = (word: string) => places.get(word)?.length ?? 0;
  const isNear = (text: string): boolean => {
    const words = wordsOf(text);
    // Whoever shares 0.6 of them has one of these, the rarest 0.4.
    const rare = [...words].sort((a, b) => countOf(a) - countOf(b))
      .slice(0, words.size - Math.ceil(0.6 * words.size) + 1);
    const near = new Set(rare.flatMap((word) => places.get(word) ?? []));
    // Of a few words many texts are made.
    return words.size > 3 && [...near].some((i) => shared(words, facts[i]!) >= 0.6);
  };
  const texts = items.flatMap(({ text, queries, reworded }) =>
    // A turn that nothing asks for may be any small talk.
    queries.length + reworded.length > 0 ? [text, ...reworded] : []
  );
  assert.deepEqual(texts.filter(isNear), []);
  const same = items.flatMap(({ queries }) => queries).filter((query) => asked.has(bare(query)));
  assert.deepEqual(same, []);
});

/** Words of the facts of all sets that something is measured on, and what is asked there. */
async function evaluated(): Promise<{
  readonly facts: readonly ReadonlySet<string>[];
  readonly asked: ReadonlySet<string>;
}> {
  const { stores } = await readQuerySet("all", ["personal", "development", "held_out"]);
  const conversations = await readConversations("held_out");
  const silence = await readQuestions("held_out");
  const { facts: written } = await readWrites("held_out");
  const facts = [
    ...stores.flatMap(({ facts }) => facts.map(({ fact }) => fact)),
    ...conversations.flatMap(({ facts, turns }) => [...facts, ...turns].map(({ text }) => text)),
    ...new Set(silence.flatMap(({ facts }) => facts)),
    ...written.flatMap(({ fact, paraphrases }) => [fact, ...paraphrases]),
  ];
  const asked = [
    ...stores.flatMap(({ facts }) => facts.flatMap(({ queries }) => queries)),
    ...conversations.flatMap(({ questions }) => questions.map(({ text }) => text)),
    ...silence.map(({ question }) => question),
    ...written.map(({ question }) => question),
  ];
  return {
    facts: facts.map(wordsOf).filter(({ size }) => size > 3),
    asked: new Set(asked.map(bare)),
  };
}

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
