import assert from "node:assert/strict";
import { fittedWeights } from "../../eval/silence.ts";
import { Asking } from "../../eval/silence_data.ts";
import { useLiteEmbedder } from "../../plugins/use_lite/mod.ts";
import { WEIGHTS } from "../../src/memory/recall/confidence.ts";

Deno.test("the weights of the confidence are those that the tuning questions give", async () => {
  await using embedder = useLiteEmbedder();
  const asking = new Asking(embedder);
  for (const mode of ["hybrid", "semantic", "keyword"] as const) {
    const fitted = await fittedWeights(asking, mode);
    for (const [name, weight] of Object.entries(fitted)) {
      const known = WEIGHTS[mode][name as keyof typeof fitted];
      // Kernels of other processors round otherwise.
      assert.ok(Math.abs(weight - known) < 0.05, `${mode} ${name}: ${weight} is not ${known}`);
    }
  }
});
