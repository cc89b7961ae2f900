import assert from "node:assert/strict";
import { measureUnrelated, measureUpdates } from "../../eval/updates.ts";
import { useLiteEmbedder } from "../../plugins/use_lite/mod.ts";

Deno.test("what is true now comes before what it replaced, and nothing else for its time", async () => {
  await using embedder = useLiteEmbedder();
  const { items, before, after } = await measureUpdates(embedder, "held_out");
  assert.equal(items, 100);
  assert.ok(before <= 40, `by score ${before}`);
  assert.ok(after >= 75, `ordered ${after}`);
  for (const file of ["personal", "development", "held_out"]) {
    const unrelated = await measureUnrelated(embedder, file);
    assert.ok(unrelated.after >= unrelated.before - 1, `${file}: ${JSON.stringify(unrelated)}`);
  }
});
