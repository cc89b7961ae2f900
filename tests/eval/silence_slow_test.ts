import assert from "node:assert/strict";
import { fittedWeights } from "../../eval/silence.ts";
import { Asking, lookUps, readQuestions } from "../../eval/silence_data.ts";
import { useLiteEmbedder } from "../../plugins/use_lite/mod.ts";
import { closeEnough } from "../../src/close_enough.ts";
import { confidenceOf, WEIGHTS } from "../../src/memory/recall/confidence.ts";

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

Deno.test("the README's question is answered, another one is not, and what is looked up is found", async () => {
  await using embedder = useLiteEmbedder();
  const asking = new Asking(embedder);
  const answer = "I am allergic to peanuts";
  const ask = async (question: string, facts: readonly string[] = [answer]) => {
    const [found] = await asking.ask([{ sort: "far", question, answer, facts }]);
    return closeEnough(found!.hits.map(({ evidence, isRight }) => {
      return { confidence: confidenceOf("hybrid", evidence), isRight };
    }));
  };
  const tuning = await readQuestions("tuning");
  const others = tuning[0]!.facts;
  for (const facts of [[answer], [...others, answer]]) {
    const cooking = await ask("what should I not cook for them?", facts);
    assert.ok(cooking.some(({ isRight }) => isRight));
    assert.deepEqual(await ask("which newspaper do I read?", facts), []);
  }
  const lookedUp = lookUps(tuning).filter(({ sort }) => sort === "answerable");
  for (const { hits } of await asking.ask(lookedUp)) {
    const rated = hits.map(({ evidence, isRight }) => {
      return { confidence: confidenceOf("hybrid", evidence), isRight, text: evidence.text };
    });
    assert.ok(closeEnough(rated).some(({ isRight }) => isRight), rated[0]?.text);
  }
});
