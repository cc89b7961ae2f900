import assert from "node:assert/strict";
import { sentences } from "../../../src/memory/extract/sentences.ts";

Deno.test("abbreviations, initials and numbers end no sentence", () => {
  const cases: [string, string[]][] = [
    ["I met Dr. Novak. She lives near St. Mary.", [
      "I met Dr. Novak.",
      "She lives near St. Mary.",
    ]],
    ["It takes approx. five minutes, e.g. by bus. Good.", [
      "It takes approx. five minutes, e.g. by bus.",
      "Good.",
    ]],
    ["Ask J. Marsh in room no. 5 on Jan. 3. He knows.", [
      "Ask J. Marsh in room no. 5 on Jan. 3.",
      "He knows.",
    ]],
    ["Version 2.4 costs 3.50. Really?! Yes.", ["Version 2.4 costs 3.50.", "Really?!", "Yes."]],
    ['She said "come." Then she left.', ['She said "come."', "Then she left."]],
    ["well… maybe. or not", ["well… maybe.", "or not"]],
    ["今日は雨だった。私は東京に住んでいます。", ["今日は雨だった。", "私は東京に住んでいます。"]],
  ];
  for (const [text, expected] of cases) assert.deepEqual(sentences(text), expected);
});

Deno.test("lines stand alone, wrapped paragraphs do not, list marks go", () => {
  const wrapped =
    "We talked for a long time about the garden and what it\nneeds before the winter.";
  assert.deepEqual(sentences(wrapped), [wrapped.replace("\n", " ")]);
  assert.deepEqual(sentences("- one thing\n* [x] another\n2) third\n\n> quoted"), [
    "one thing",
    "[x] another",
    "third",
    "quoted",
  ]);
});

Deno.test("an endless sentence is cut, and nothing of it is lost", () => {
  const words = Array.from({ length: 400 }, (_, n) => `word${n}`);
  for (const text of [words.join(" "), words.join(", "), words.join(""), "🍀".repeat(700)]) {
    const pieces = sentences(text);
    assert.ok(pieces.every((piece) => piece.length <= 500 && piece.isWellFormed()));
    assert.equal(pieces.join("").replaceAll(/\s/g, ""), text.replaceAll(/\s/g, ""));
  }
});
