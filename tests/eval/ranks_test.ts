import assert from "node:assert/strict";
import { uniform } from "../../bench/statistics.ts";
import { readQuerySet } from "../../eval/query_set.ts";
import { interval, quality, rankOf } from "../../cli/memories/eval/ranks.ts";

Deno.test("quality is a mean over the queries", () => {
  const { hit1, hit5, recall10, ndcg10 } = quality([1, 3, 7, 11]);
  assert.deepEqual([hit1, hit5, recall10], [25, 50, 75]);
  assert.ok(Math.abs(ndcg10 - 25 * (1 + 1 / 2 + 1 / 3)) < 1e-9);
});

Deno.test("ranks count what is before", () => {
  const scores = [0.5, 0.9, 0.5, 0.1];
  assert.deepEqual(scores.map((_, i) => rankOf(i, scores)), [2, 1, 3, 4]);
});

Deno.test("the interval surrounds the value and is the same again", () => {
  const ranks = Array.from({ length: 100 }, (_, i) => i % 4 === 0 ? 2 : 1);
  const of = () => interval(ranks, ({ hit1 }) => hit1, uniform(1));
  const [low, high] = of();
  assert.ok(low < 75 && high > 75 && high - low < 25);
  assert.deepEqual(of(), [low, high]);
});

Deno.test("the query sets are as their README says", async () => {
  const sizes = async (file: string) => {
    const { stores } = await readQuerySet(file, [file]);
    const facts = stores.flatMap((store) => store.facts);
    assert.equal(new Set(facts.map(({ fact }) => fact)).size, facts.length, "a fact comes twice");
    return `| ${file}.json | ${facts.length} | ${facts.flatMap(({ queries }) => queries).length} |`;
  };
  const readme = await Deno.readTextFile(
    new URL("../testdata/retrieval/README.md", import.meta.url),
  );
  const files = ["personal", "development", "held_out", "labels_ko", "labels_de", "labels_es"];
  for (const file of files) assert.ok(readme.includes(await sizes(file)), file);
});
