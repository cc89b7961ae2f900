import assert from "node:assert/strict";
import { memoryEmbedder } from "../../plugins/memory/embedder.ts";
import type { Embedder } from "../../src/interfaces/mod.ts";
import { checkedVectors } from "../../src/memory/vectors.ts";
import { startRelayer } from "../relayer_fixture.ts";

Deno.test("vectors of another length than 1 are scaled, those that say nothing refused", () => {
  const embedder = memoryEmbedder(2);
  const made = (...values: number[]) => checkedVectors(embedder, [Float32Array.of(...values)])[0]!;
  const given = Float32Array.of(0.6, 0.8);
  assert.equal(checkedVectors(embedder, [given])[0], given);
  for (const scale of [1e-30, 0.5, 2, 1e30]) {
    const [x = NaN, y = NaN] = made(0.6 * scale, 0.8 * scale);
    assert.ok(Math.abs(x - 0.6) < 1e-5 && Math.abs(y - 0.8) < 1e-5, `${scale}`);
  }
  // A longer one would look nearer than one that is.
  for (const length of [1.00009, 0.99995, 1.000002]) {
    const long = made(0.6 * length, 0.8 * length);
    assert.ok(Math.abs(Math.hypot(...long) - 1) < 1e-6, `${length}`);
  }
  for (const values of [[0, 0], [NaN, 1], [Infinity, 1], [1], [1, 0, 0]]) {
    assert.throws(() => made(...values), { code: "embedding_unavailable" });
  }
  assert.throws(() => checkedVectors(embedder, []), { code: "embedding_unavailable" });
  for (const values of [[0.6, 0.8], [1, null], ["0.6", "0.8"], undefined]) {
    const wrong = [values] as unknown as Float32Array[];
    assert.throws(() => checkedVectors(embedder, wrong), { code: "embedding_unavailable" });
  }
});

Deno.test("a share of known words that is no number counts as all of them", async () => {
  const inner = memoryEmbedder();
  const embedder: Embedder = {
    ...inner,
    embed: (...args) => inner.embed(...args),
    embedQuery: async (text, options) => {
      const [[vector] = []] = await inner.embed([text], { ...options, purpose: "query" });
      return { vector: vector!, known: NaN };
    },
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  };
  await using svc = await startRelayer({ backends: { embedder } });
  await svc.remember("I like tea");
  assert.deepEqual(await svc.recall("tea"), ["I like tea"]);
});
