import assert from "node:assert/strict";
import { mapQuery } from "../../../plugins/use_lite/engine/query_map.ts";
import { useLiteEmbedder } from "../../../plugins/use_lite/mod.ts";
import { uniform, unitVector } from "../../../bench/statistics.ts";

const cosine = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, value, i) => sum + value * b[i]!, 0);

interface Store {
  readonly facts: readonly { readonly fact: string; readonly queries: readonly string[] }[];
}

Deno.test("a mapped query has unit length and stays near where it was", () => {
  const random = uniform(5);
  for (let i = 0; i < 20; i++) {
    const vector = unitVector(512, random);
    const mapped = vector.slice();
    mapQuery(mapped);
    assert.ok(Math.abs(Math.hypot(...mapped) - 1) < 1e-5);
    assert.ok(cosine(vector, mapped) > 0.5 && cosine(vector, mapped) < 1);
  }
  const zero = new Float32Array(512);
  mapQuery(zero);
  assert.ok(zero.every((value) => value === 0));
});

Deno.test("queries are mapped, so that their answers stand out, and documents are not", async () => {
  await using embedder = useLiteEmbedder();
  const embed = async (text: string, purpose: "document" | "query") =>
    (await embedder.embed([text], { purpose }))[0]![0]!;
  const query = "Who is my spouse?";
  const plain = await embed(query, "document");
  const mapped = await embed(query, "query");
  const expected = plain.slice();
  mapQuery(expected);
  assert.ok(1 - cosine(mapped, expected) < 1e-5);
  // What it was learned for: more queries find their fact.
  const file = new URL("../../../eval/training/stores.jsonl", import.meta.url);
  const stores: Store[] = (await Deno.readTextFile(file)).split("\n", 10).map((line) =>
    JSON.parse(line)
  );
  const firsts = { document: 0, query: 0 };
  for (const { facts } of stores) {
    const vectors = await Promise.all(facts.map(({ fact }) => embed(fact, "document")));
    for (const [i, { queries }] of facts.entries()) {
      for (const purpose of ["document", "query"] as const) {
        for (const text of queries) {
          const vector = await embed(text, purpose);
          const scores = vectors.map((other) => cosine(vector, other));
          if (scores[i] === Math.max(...scores)) firsts[purpose]++;
        }
      }
    }
  }
  assert.ok(firsts.query > firsts.document, JSON.stringify(firsts));
});
