import assert from "node:assert/strict";
import { uniform, unitVector } from "../../bench/statistics.ts";
import { trainMap } from "../../eval/training/low_rank_map.ts";
import { makePairs } from "../../eval/training/pairs.ts";
import { readQuerySet } from "../../eval/query_set.ts";

Deno.test("pairs are the same again, filled, and of no sentence that is evaluated", async () => {
  const pairs = await makePairs(uniform(1));
  assert.deepEqual(pairs, await makePairs(uniform(1)));
  assert.ok(pairs.length > 2000);
  assert.ok(pairs.every(({ query, fact }) => !/[{}_]/.test(query + fact)));
  const files = ["personal", "development", "held_out"];
  const { stores } = await readQuerySet("all", files);
  const facts = new Set(stores.flatMap((store) => store.facts.map(({ fact }) => fact)));
  assert.deepEqual(pairs.filter(({ fact }) => facts.has(fact)), []);
});

Deno.test("training brings queries to their facts", () => {
  const random = uniform(3);
  const size = 12;
  // Facts are the queries with their first two numbers exchanged: a map of low rank.
  const queries = Array.from({ length: 60 }, () => unitVector(size, random));
  const facts = queries.map((q) => Float32Array.of(q[1]!, q[0]!, ...q.subarray(2)));
  const topics = queries.map((_, i) => [i]);
  const options = { rank: 3, steps: 150, sharpness: 10, decay: 0, rate: 0.02, random };
  const { down, up } = trainMap({ queries, facts, topics }, options);
  const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, x, i) => sum + x * b[i]!, 0);
  const firsts = (map: (query: Float32Array) => Float32Array): number =>
    queries.filter((query, i) => {
      const scores = facts.map((fact) => dot(map(query), fact));
      return scores.indexOf(Math.max(...scores)) === i;
    }).length;
  const mapped = (query: Float32Array): Float32Array => {
    const inner = down.map((row) => dot(row, query));
    return query.map((value, i) => inner.reduce((sum, x, r) => sum + x * up[r]![i]!, value));
  };
  assert.ok(firsts(mapped) > firsts((query) => query) + 5);
  assert.ok(firsts(mapped) >= 55);
});
