import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { Json } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { DurableRelayer } from "./durable.ts";
import { Gate, turnedEmbedder } from "./other_models.ts";

const TEXTS = ["I drink tea with honey.", "My bicycle is green."];

/** A relayer whose memories have vectors of another model; the new one embeds queries only. */
async function outdated() {
  const durable = await DurableRelayer.start({ config: { recallWaitMs: 20 } });
  for (const text of TEXTS) await durable.svc.remember(text);
  const gate = new Gate();
  gate.left = 0;
  gate.failing = true;
  await durable.restart({ embedder: () => turnedEmbedder(gate) });
  return { durable, gate };
}

Deno.test("memories without vectors are found by their words and by nothing else", async () => {
  verifies("15-44", "10.6-5");
  const { durable, gate } = await outdated();
  await using _durable = durable;
  const { svc } = durable;
  const find = async (mode: string, members: Json = {}) => {
    const { status, body } = await svc.post("/api/recall", { query: "honey", mode, ...members });
    strictEqual(status, 200, body.code);
    strictEqual(body.pending, 2, mode);
    return body.results.map(({ text }: Json) => text);
  };
  deepStrictEqual(await find("keyword"), [TEXTS[0]]);
  for (const mode of ["hybrid", "semantic"]) {
    deepStrictEqual(await find(mode), [], mode);
    deepStrictEqual(await find(mode, { scoring_weights: { recency: 1 } }), [], mode);
  }
  const { dimensions } = svc.backends.embedder;
  const manual = await svc.post("/api/recall/manual", { vector: Array(dimensions).fill(1) });
  deepStrictEqual(manual.body.results, []);
  const asked = await svc.post("/api/ask", { question: "honey", mode: "keyword" });
  ok(asked.body.answer.includes(TEXTS[0]!));
  // A memory of the present model beside them is found in every mode, alone where vectors decide.
  gate.left = 1;
  await svc.remember("honey cake");
  for (const mode of ["hybrid", "semantic"]) {
    deepStrictEqual(await find(mode), ["honey cake"], mode);
  }
  deepStrictEqual((await find("keyword")).toSorted(), [TEXTS[0], "honey cake"]);
  gate.open();
});

Deno.test("what has no vector yet is not stored again by an analyze", async () => {
  verifies("10.5-3", "15-44");
  const { durable, gate } = await outdated();
  await using _durable = durable;
  const { svc } = durable;
  gate.left = 1;
  const { status, body } = await svc.post("/api/analyze", { text: TEXTS[0] });
  deepStrictEqual([status, body.code, body.facts], [202, undefined, []]);
  gate.open();
});
