import assert from "node:assert/strict";
import fc from "fast-check";
import { factsOfAnswer } from "../../../src/memory/analyze/model_answer.ts";

const TEA = { text: "Ana likes tea.", importance: 0.5 };

Deno.test("facts are found in whatever a model wraps them in", () => {
  const json = '{"facts": [{"text": "Ana likes tea.", "importance": "medium"}]}';
  const answers = [
    json,
    `\n${json}\n`,
    "```json\n" + json + "\n```",
    "Sure! Here are the facts:\n" + json + "\nLet me know if you need more {facts}.",
    `<think>{"facts": ["wrong"]} or not?</think>${json}`,
    '["Ana likes tea."]',
    '{"facts": ["Ana likes tea."]}',
    '{"facts": [{"fact": "  Ana\\n likes tea. "}]}',
    '{"facts": [{"text": "Ana likes tea.", "importance": "medium"}, {"text": "broken o',
    "Note: { not json } " + json,
  ];
  for (const answer of answers) assert.deepEqual(factsOfAnswer(answer, 20), [TEA], answer);
});

Deno.test("items that are no facts are left out, the others stay", () => {
  const items = [
    null,
    7,
    {},
    "",
    "  ",
    { text: 5 },
    "x".repeat(601),
    "\ud800",
    [],
    "Ana likes tea.",
  ];
  assert.deepEqual(factsOfAnswer(JSON.stringify({ facts: items }), 20), [TEA]);
});

Deno.test("importance is brought to its three classes", () => {
  const facts = ["high", "medium", "low", 0.95, 0.5, 0.1, "urgent", null].map((importance) => ({
    text: "Ana likes tea.",
    importance,
  }));
  const found = factsOfAnswer(JSON.stringify({ facts }), 20) ?? [];
  assert.deepEqual(found.map((fact) => fact.importance), [0.9, 0.5, 0.2, 0.9, 0.5, 0.2, 0.5, 0.5]);
});

Deno.test("no facts is an answer, no JSON is none, and there are never too many", () => {
  assert.deepEqual(factsOfAnswer('{"facts": []}', 20), []);
  assert.deepEqual(factsOfAnswer("[]", 20), []);
  for (const answer of ["", "I found nothing.", "{", '{"memories": []}', "[1, 2]", '"text"']) {
    assert.equal(factsOfAnswer(answer, 20), undefined, answer);
  }
  const many = JSON.stringify({ facts: Array.from({ length: 50 }, (_, n) => `Fact ${n}.`) });
  assert.equal(factsOfAnswer(many, 20)?.length, 20);
});

Deno.test("any answer is read without an error", () => {
  const part = fc.oneof(
    fc.string(),
    fc.constantFrom("{", "}", "[", "]", '"', "\\", '"facts":', ","),
  );
  fc.assert(fc.property(fc.array(part), (parts) => {
    factsOfAnswer(parts.join(""), 20);
  }));
  for (const unit of ["{", "[", '{"facts":[', '"', "{}", "<think>"]) {
    factsOfAnswer(unit.repeat(300_000 / unit.length), 20);
  }
});
