import assert from "node:assert/strict";
import { fittedWeights, measureUnrelated, measureUpdates } from "../../eval/updates.ts";
import { useLiteEmbedder } from "../../plugins/use_lite/mod.ts";
import { WEIGHTS } from "../../src/memory/recall/newer_first.ts";

Deno.test("the weights of newer statements are those that the tuning items give", async () => {
  await using embedder = useLiteEmbedder();
  for (const [name, weight] of Object.entries(await fittedWeights(embedder))) {
    const known = WEIGHTS[name as keyof typeof WEIGHTS];
    // Kernels of other processors round otherwise.
    assert.ok(Math.abs(weight - known) < 0.1, `${name}: ${weight} is not ${known}`);
  }
});

Deno.test("what is true now comes before what it replaced, and nothing else for its time", async () => {
  await using embedder = useLiteEmbedder();
  const { items, before, after } = await measureUpdates(embedder, "held_out");
  assert.equal(items, 100);
  assert.ok(before <= 40, `by score ${before}`);
  assert.ok(after >= 57, `ordered ${after}`);
  for (const file of ["personal", "development", "held_out"]) {
    const unrelated = await measureUnrelated(embedder, file);
    assert.ok(unrelated.after >= unrelated.before - 1, `${file}: ${JSON.stringify(unrelated)}`);
  }
});
