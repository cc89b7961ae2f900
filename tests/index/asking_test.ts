import assert from "node:assert/strict";
import { LexicalIndex } from "../../src/index/words/lexical_index.ts";
import { asks } from "../../src/index/words/asking.ts";

Deno.test("a text asks that ends with a question and tells little besides", () => {
  for (
    const text of [
      "When do you start?",
      "Lena: And the neighbours?",
      "Bravo! How was it?",
      "ok. and you said \u201cwhen?\u201d",
      "\u4f60\u4ec0\u4e48\u65f6\u5019\u6765\uff1f",
    ]
  ) assert.ok(asks(text), text);
  for (
    const text of [
      "",
      "I start on Monday.",
      "Who knows? I start on Monday.",
      "I start on Monday at the bakery in Ghent, with Rosa and her brother. Nice?",
      `${"I start on Monday. ".repeat(60)}And you?`,
    ]
  ) assert.ok(!asks(text), text);
});

Deno.test("an index knows which of its texts ask, through removals and a saved state", () => {
  const index = new LexicalIndex();
  const texts = ["Who is it?", "Rosa", "When?", "On Monday", "Where to?"];
  texts.forEach((text, slot) => {
    index.add();
    index.set(slot, text);
  });
  index.add();
  assert.deepEqual(index.asking([0, 1, 2, 3, 4, 5]), [true, false, true, false, true, false]);
  assert.equal(index.askingShare, 0.6);
  // The last slot, which has no text, takes the removed one's number.
  index.remove(2);
  assert.deepEqual(index.asking([4, 2, 0]), [true, false, true]);
  assert.equal(index.askingShare, 0.5);
  const { state, slots } = index.save();
  const other = new LexicalIndex();
  texts.forEach(() => other.add());
  other.take(structuredClone(state), slots);
  assert.deepEqual(other.asking([0, 1, 2, 3, 4]), [true, false, false, false, true]);
  // A question mark is no word, and a query with one finds nothing by it.
  assert.deepEqual([...other.score("?").words], [0, 0, 0, 0, 0]);
});
