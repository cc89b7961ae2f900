import assert from "node:assert/strict";
import { calibrate, queriesOf, sharesAt } from "../../eval/ask.ts";
import { useLiteEmbedder } from "../../plugins/use_lite/mod.ts";

Deno.test("the highest threshold that lets enough answerable queries through is chosen", () => {
  const queries = [0.9, 0.8, 0.7, 0.6, 0.2].map((answerable) => ({
    answerable,
    unanswerable: 0.3,
  }));
  assert.equal(calibrate(queries, 0.8), 0.6);
  assert.equal(calibrate(queries, 1), 0.2);
  assert.deepEqual(sharesAt(queries, 0.65), [0.6, 1]);
  assert.deepEqual(sharesAt(queries, 0.1), [1, 0]);
});

Deno.test("the built-in embedder's closeness is the calibrated one", async () => {
  await using embedder = useLiteEmbedder();
  assert.equal(calibrate(await queriesOf("personal"), 0.9), embedder.closeness);
});
