import assert from "node:assert/strict";
import { beyondWords, labelledPairs, nearPairs } from "../../eval/duplicates.ts";
import { useLiteEmbedder } from "../../plugins/use_lite/mod.ts";

Deno.test("no cosine tells another wording from another fact", async () => {
  await using embedder = useLiteEmbedder();
  const near = await nearPairs(await labelledPairs(), embedder);
  assert.deepEqual(beyondWords(near, 0.995, false), { recognised: 0, lost: 4 });
  assert.deepEqual(beyondWords(near, 0.995, true), { recognised: 0, lost: 1 });
  for (const guard of [false, true]) {
    // Wherever it recognises anything that the words do not, it loses more.
    for (let atLeast = 0.99; atLeast > 0.9; atLeast -= 0.005) {
      const { recognised, lost } = beyondWords(near, atLeast, guard);
      assert.ok(lost > recognised, `${atLeast}: ${recognised} recognised, ${lost} lost`);
    }
  }
});
