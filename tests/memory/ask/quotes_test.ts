import assert from "node:assert/strict";
import type { Hit } from "../../../src/memory/recall/recall.ts";
import { quotes } from "../../../src/memory/ask.ts";

function hit(text: string, distance: number, score = Math.max(0, 1 - distance)): Hit {
  return {
    memoryId: text,
    blobId: undefined,
    namespace: "default",
    text,
    distance,
    score,
    createdAt: "2026-01-01T00:00:00.000Z",
    occurredAt: undefined,
    importance: 0.5,
    metadata: undefined,
    standing: undefined,
    key: undefined,
    relations: undefined,
  };
}

Deno.test("close memories are quoted, and the answer says that nobody composed it", () => {
  const hits = [hit("I like tea", 0.3), hit("I have\n\na cat", 0.64), hit("It rains", 0.66)];
  const { answer, quoted } = quotes(hits, 0.35, false);
  assert.equal(
    answer,
    "No language model is configured to compose an answer. The closest memories are:\n" +
      "1. I like tea\n2. I have a cat",
  );
  assert.deepEqual(quoted, hits.slice(0, 2));
});

Deno.test("nothing close enough is said, not made up", () => {
  for (const hits of [[], [hit("It rains", 0.8)]]) {
    assert.deepEqual(quotes(hits, 0.35, false), {
      answer: "No language model is configured, and no memory is close enough to the question.",
      quoted: [],
    });
  }
});

Deno.test("a memory found by its words is close; recency and importance make none close", () => {
  const byWords = hit("The gate code is 7714", 0.9, 0.8);
  assert.equal(quotes([byWords], 0.35, false).quoted.length, 1);
  assert.equal(quotes([byWords], 0.35, true).quoted.length, 0);
  assert.equal(quotes([hit("far away", 0.99)], undefined, false).quoted.length, 1);
});

Deno.test("a long memory is quoted in part, and given whole", () => {
  const long = hit("😀".repeat(600), 0.1);
  const { answer, quoted } = quotes([long], 0.35, false);
  assert.ok(answer.length < 700 && answer.endsWith("…") && answer.isWellFormed());
  assert.equal(quoted[0]?.text, long.text);
});

Deno.test("of a quotation white space is one blank, wherever it is cut", () => {
  for (let words = 1; words < 140; words++) {
    const text = "\n\t " + Array(words).fill("tea\u00a0 it ").join(" \u3000\n") + "\ufeff ";
    const line = text.replace(/\s+/g, " ").trim();
    const expected = line.length <= 500 ? line : `${line.slice(0, 500)}…`;
    assert.ok(quotes([hit(text, 0.1)], 0.35, false).answer.endsWith(`\n1. ${expected}`), text);
  }
});
