import assert from "node:assert/strict";
import type { Hit } from "../../../src/memory/recall/recall.ts";
import { quotes } from "../../../src/memory/ask.ts";
import { verifies } from "../../requirements.ts";

function hit(text: string, confidence: number | undefined): Hit {
  return {
    memoryId: text,
    blobId: undefined,
    namespace: "default",
    text,
    distance: 0.5,
    score: 0.5,
    confidence,
    createdAt: "2026-01-01T00:00:00.000Z",
    occurredAt: undefined,
    importance: 0.5,
    metadata: undefined,
    standing: undefined,
    key: undefined,
    writtenBy: undefined,
    relations: undefined,
    session: undefined,
    position: undefined,
  };
}

Deno.test("close memories are quoted, and the answer says that nobody composed it", () => {
  verifies("10.7-20");
  const hits = [hit("I like tea", 0.3), hit("I have\n\na cat", 0.01), hit("It rains", 0.001)];
  const { answer, quoted } = quotes(hits);
  assert.equal(
    answer,
    "No language model is configured to compose an answer. The closest memories are:\n" +
      "1. I like tea\n2. I have a cat",
  );
  assert.deepEqual(quoted, hits.slice(0, 2));
});

Deno.test("nothing close enough is said, not made up", () => {
  for (const hits of [[], [hit("It rains", 0.06)]]) {
    assert.deepEqual(quotes(hits), {
      answer: "No language model is configured, and no memory is close enough to the question.",
      quoted: [],
    });
  }
});

Deno.test("where nobody measured the embedder every hit is quoted; a least confidence decides", () => {
  assert.equal(quotes([hit("far away", undefined)]).quoted.length, 1);
  const hits = [hit("I like tea", 0.3), hit("It rains", 0)];
  assert.deepEqual(quotes(hits, 0).quoted, hits);
  assert.deepEqual(quotes(hits, 0.5).quoted, []);
});

Deno.test("a long memory is quoted in part, and given whole", () => {
  const long = hit("😀".repeat(600), 0.1);
  const { answer, quoted } = quotes([long]);
  assert.ok(answer.length < 700 && answer.endsWith("…") && answer.isWellFormed());
  assert.equal(quoted[0]?.text, long.text);
});

Deno.test("of a quotation white space is one blank, wherever it is cut", () => {
  for (let words = 1; words < 140; words++) {
    const text = "\n\t " + Array(words).fill("tea\u00a0 it ").join(" \u3000\n") + "\ufeff ";
    const line = text.replace(/\s+/g, " ").trim();
    const expected = line.length <= 500 ? line : `${line.slice(0, 500)}…`;
    assert.ok(quotes([hit(text, 0.1)]).answer.endsWith(`\n1. ${expected}`), text);
  }
});
