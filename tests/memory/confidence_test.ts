import assert from "node:assert/strict";
import { Question } from "../../src/memory/recall/answer_kinds.ts";
import { confidenceOf, type Evidence } from "../../src/memory/recall/confidence.ts";
import { memoryEmbedder } from "../../plugins/memory/mod.ts";
import { type Json, startRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";

const EVIDENCE: Evidence = {
  question: new Question("what do I drink?"),
  text: "I like tea",
  closeness: 0,
  known: 1,
  coverage: 0,
  behind: 0,
  among: 60,
};

Deno.test("what is closer, has more of the words, and is not behind is more likely", () => {
  const of = (more: Partial<Evidence>) => confidenceOf("hybrid", { ...EVIDENCE, ...more });
  const plain = of({});
  assert.ok(plain > 0 && plain < 0.5);
  for (const better of [{ closeness: 0.2 }, { coverage: 1 }, { among: 1 }]) {
    assert.ok(of(better) > plain, JSON.stringify(better));
  }
  const when = { question: new Question("when do I drink?") };
  for (const worse of [{ closeness: -0.2 }, { behind: 0.1 }, when]) {
    assert.ok(of(worse) < plain, JSON.stringify(worse));
  }
  assert.equal(of({ among: 1_000_000 }), of({ among: 60 }), "no less likely in a large namespace");
});

Deno.test("a name that is looked up is found, also in a long text and by an embedder at a loss", () => {
  const lookUp = { ...EVIDENCE, question: new Question("Orban"), known: 0.4, closeness: -0.25 };
  const [short, long] = ["Mr. Orban repairs the mixer", `${"flour and water ".repeat(200)} Orban`];
  const of = (text: string, coverage: number) => {
    return confidenceOf("hybrid", { ...lookUp, text, coverage });
  };
  for (const found of [of(short, 0.9), of(long, 0.05)]) assert.ok(found > 0.3, `${found}`);
  assert.ok(of(long.replace("Orban", "nobody"), 0.05) < 0.07);
  assert.ok(of(short, 0) < 0.07);
});

Deno.test("a confidence has three decimals, from 0 to 1", () => {
  for (const mode of ["hybrid", "semantic", "keyword"] as const) {
    for (const closeness of [-1.5, -0.3, 0, 0.3, 0.6]) {
      for (const coverage of [0, 0.37, 1]) {
        const confidence = confidenceOf(mode, { ...EVIDENCE, closeness, coverage });
        assert.ok(confidence >= 0 && confidence <= 1);
        assert.equal(Math.round(confidence * 1000) / 1000, confidence);
      }
    }
  }
});

Deno.test("a text without a number, a time, a name or a place does not answer who asks for one", () => {
  for (
    const [question, lacking, having] of [
      ["How old is Muffin?", "I have a rabbit named Muffin", "Muffin is 3"],
      ["How many children do I have?", "My children like tea", "I have two children"],
      ["When is the exam?", "The exam is hard", "The exam is on Monday"],
      ["what time does it open", "It opens late", "It opens at eight"],
      ["Who coaches the club?", "The club is rich", "Ines coaches the club"],
      ["who is my dentist?", "My dentist is kind", "my dentist is called ames"],
      ["Whose bike is it?", "The bike is red", "It is my sister's bike"],
      ["Where is the torch?", "The torch is red", "The torch is in the left pocket"],
      ["How old is Muffin?", "Muffin wins every Monday", "Muffin was born in spring"],
      ["What does the gym cost?", "The gym is open on Monday", "The gym takes 40"],
      ["What is my rabbit called?", "I have a rabbit", "The rabbit is named Muffin"],
      ["phone number of the plumber", "The plumber is at 5 Elm Row", "The plumber is at 555-0188"],
      ["my email address", "I read my mail at night", "I am ines@example.org"],
      ["What colour is my bike?", "My bike is new", "My bike is dark green"],
      ["combination of the locker", "The locker is full", "The locker opens with 4-1-7"],
      ["Wann ist die Prüfung?", "Die Prüfung ist schwer", "Die Prüfung ist im März"],
      ["Wie viele Kinder?", "Die Kinder spielen", "Sie hat drei Kinder"],
    ] as const
  ) {
    assert.ok(new Question(question).isLackedBy(lacking), `${question} ${lacking}`);
    assert.ok(!new Question(question).isLackedBy(having), `${question} ${having}`);
  }
});

Deno.test("who asks for nothing of a kind, in another language or at length, lacks nothing", () => {
  for (
    const [question, text] of [
      ["", ""],
      ["what should I not cook for them?", "I am allergic to peanuts"],
      ["favourite drink", "I like tea"],
      ["¿Cuándo es el examen?", "El examen es difícil"],
      ["我什么时候考试？", "考试很难"],
      [`when ${"and ".repeat(200)}`, "tea"],
      ["When is the exam?", "tea ".repeat(1000)],
    ] as const
  ) {
    assert.ok(!new Question(question).isLackedBy(text), question);
  }
});

Deno.test("hits have a confidence where the embedder was measured, and min_confidence keeps some", async () => {
  verifies("10.6-40", "10.6-41");
  const embedder = { ...memoryEmbedder(), closeness: 0.5 };
  await using svc = await startRelayer({ backends: { embedder } });
  await svc.remember("green tea with honey", { importance: 1 });
  await svc.remember("the cabin has no heating");
  const recall = async (members: Json = {}): Promise<Json[]> => {
    return (await svc.post("/api/recall", { query: "green tea", ...members })).body.results;
  };
  const hits = await recall();
  assert.equal(hits.length, 2, "nothing is left out by itself");
  const [first, second] = hits.map(({ confidence }) => confidence);
  assert.ok(first > second && first <= 1 && second >= 0);
  for (const mode of ["semantic", "keyword"]) {
    for (const { confidence } of await recall({ mode })) {
      assert.ok(confidence >= 0 && confidence <= 1, mode);
    }
  }
  assert.deepEqual(await recall({ min_confidence: first }), hits.slice(0, 1), "from the value on");
  assert.deepEqual(await recall({ min_confidence: 0 }), hits);
  const weights = { semantic: 1, importance: 5 };
  const weighted = await recall({ scoring_weights: weights });
  assert.deepEqual(weighted.map(({ confidence }) => confidence), [first, second]);
  const { body } = await svc.post("/api/recall", { query: "purple", min_confidence: 1 });
  assert.deepEqual([body.total, body.message], [0, "No matching memories found"]);
});

Deno.test("with an embedder that nobody measured hits have no confidence, and stay", async () => {
  verifies("10.6-40", "10.6-41");
  await using svc = await startRelayer();
  await svc.remember("green tea");
  const recall = async (members: Json) => {
    return (await svc.post("/api/recall", { query: "tea", min_confidence: 0.1, ...members })).body;
  };
  assert.deepEqual((await recall({})).results.map((hit: Json) => "confidence" in hit), [false]);
  const [byWords] = (await recall({ mode: "keyword" })).results;
  assert.ok(byWords.confidence > 0.1, "words need no embedder");
});
