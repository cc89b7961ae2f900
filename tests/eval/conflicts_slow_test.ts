import assert from "node:assert/strict";
import { measureChanges, measureFacts, measurePairs, readFacts } from "../../eval/conflicts.ts";
import { readUpdates } from "../../eval/updates.ts";
import { useLiteEmbedder } from "../../plugins/use_lite/mod.ts";

Deno.test("rules link what contradicts, and hardly anything else", async () => {
  await using embedder = useLiteEmbedder();
  const pairs = await measurePairs(embedder, "held_out");
  assert.ok(pairs.right.length >= 30 && pairs.wrong.length <= 2, "pairs");
  const tuning = await measureChanges(embedder, await readUpdates("tuning"));
  assert.ok(tuning.right.length >= 85 && tuning.wrong.length === 0, "tuning");
  const heldOut = await measureChanges(embedder, await readUpdates("held_out"));
  assert.ok(heldOut.right.length >= 12 && heldOut.wrong.length === 0, "held out");
  assert.deepEqual(await measureFacts(embedder, await readFacts("tuning")), []);
  const among = await measureFacts(embedder, await readFacts("held_out"));
  assert.ok(among.length <= 4, `${among.length} among facts`);
});
